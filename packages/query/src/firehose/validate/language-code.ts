import { certain, error, replace } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { quote } from '../escape.ts';
import { languageLabels } from '../labels.ts';
import { eitherOf, isPlainValue, listItems, type PlacedAtom, type View } from './rule.ts';

const names: ReadonlyMap<string, string> = new Map([
  ['arabic', 'ar'],
  ['bengali', 'bn'],
  ['chinese', 'zh-cn'],
  ['czech', 'cs'],
  ['danish', 'da'],
  ['deutsch', 'de'],
  ['dutch', 'nl'],
  ['english', 'en'],
  ['finnish', 'fi'],
  ['french', 'fr'],
  ['german', 'de'],
  ['greek', 'el'],
  ['hebrew', 'he'],
  ['hindi', 'hi'],
  ['italian', 'it'],
  ['jp', 'ja'],
  ['japanese', 'ja'],
  ['korean', 'ko'],
  ['kr', 'ko'],
  ['nb', 'no'],
  ['norwegian', 'no'],
  ['polish', 'pl'],
  ['portuguese', 'pt'],
  ['russian', 'ru'],
  ['spanish', 'es'],
  ['swedish', 'sv'],
  ['turkish', 'tr'],
  ['ua', 'uk'],
  ['ukrainian', 'uk'],
  ['zh', 'zh-cn'],
  ['zh-hans', 'zh-cn'],
  ['zh-hant', 'zh-tw'],
  ['zh-hk', 'zh-tw'],
]);

/** The list of codes is closed and compared with case. */
export function languageCode(placed: PlacedAtom, view: View): void {
  const { atom, field } = placed;
  const labels = languageLabels();
  if (field !== 'language' || !isPlainValue(placed) || labels.has(atom.value)) return;
  const lower = atom.value.trim().toLowerCase().replace('_', '-');
  const meant = [lower, names.get(lower), lower.split('-')[0]].find(
    (code) => code !== undefined && labels.has(code),
  );
  const fixes = meant === undefined ? [] : [certain(replace(`Use "${meant}"`, atom.span, quote(meant)))];
  const items = listItems(atom.value);
  if (items?.every((item) => labels.has(item))) fixes.push(certain(eitherOf(items, atom.span)));
  const hint = meant === undefined ? `Known codes: ${[...labels].join(' ')}.` : `Did you mean "${meant}"?`;
  const message = `${quoted(atom.value)} is not a language code of the platform, so this never matches. ${hint}`;
  view.report(error('unknown_language', message, atom.span, fixes));
}
