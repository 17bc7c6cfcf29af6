import { certain, error, replacement, warning } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { currentLanguages, languageCode, languageInstead, olderLanguages } from '../languages.ts';
import { clauseSpan, type LeafRule } from './rule.ts';

/** Chinese has two codes, and `br` may be Breton. */
const ambiguous: ReadonlySet<string> = new Set(['zh', 'cn', 'chinese', 'br']);

/** X may ignore an unknown code, so that the rule would match more than intended (x.md §10.3): refused. */
export const knownLanguage: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || leaf.test.value === '') return;
  const { value } = leaf.test;
  if (currentLanguages.has(value)) return;
  if (olderLanguages.has(value)) {
    const message = `X's list of today no longer names ${quoted(value)}; it may be ignored, and the rule would match every language.`;
    view.report(warning('older_language', message, leaf.valueSpan));
    return;
  }
  const several = value.split(/[,|]/);
  if (several.length > 1 && several.every((one) => currentLanguages.has(one))) {
    const text = `(${several.map((one) => `lang:${one}`).join(' OR ')})`;
    const fix = certain(replacement(`Write ${text}`, clauseSpan(leaf, view.text), text));
    return view.report(
      error('one_value', 'lang: takes one language. Join several with OR.', leaf.valueSpan, [fix]),
    );
  }
  const lower = value.toLowerCase();
  const instead = languageInstead.get(lower) ?? languageCode(lower.split(/[-_]/)[0] ?? '');
  const message = `X does not classify ${quoted(value, 20)}. Use a code such as en, de, ja or zh-CN${instead === undefined ? '' : `; here probably ${instead}`}.`;
  const fix = instead === undefined ? [] : [replacement(`Write lang:${instead}`, leaf.valueSpan, instead)];
  const fixes = ambiguous.has(lower) ? fix : fix.map(certain);
  view.report(error('unknown_language', message, leaf.valueSpan, fixes));
};
