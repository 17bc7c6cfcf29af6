import type { Edit } from '../../diagnostics.ts';
import { certain, error } from '../../diagnostics.ts';
import type { TextRule } from './rule.ts';

/** Signs and letters as East Asian keyboards write them. Between quotes they are searched as written. */
const phraseOrWide = /"[^"]*"|[！-｝「」『』　]/g;

/** X's syntax is ASCII: `（`, `＃`, `ＯＲ` and `「` are read as words. */
export const fullWidth: TextRule = (view) => {
  if (!/[！-｝「」『』]/.test(view.text)) return;
  const edits = [...view.text.matchAll(phraseOrWide)].flatMap(({ 0: sign, index }): Edit[] =>
    sign.startsWith('"') ? [] : [{ span: [index, index + 1], text: ascii(sign) }],
  );
  const [first] = edits;
  if (first === undefined || /[，；、]/.test(view.text)) return;
  const message = 'X reads full-width signs and letters as text. Write them in ASCII.';
  view.report(
    error('full_width', message, first.span, [certain({ title: 'Write ASCII', certainty: 'guess', edits })]),
  );
};

function ascii(sign: string): string {
  if (sign === '　') return ' ';
  if ('「」『』'.includes(sign)) return '"';
  return String.fromCharCode(sign.charCodeAt(0) - 0xfee0);
}
