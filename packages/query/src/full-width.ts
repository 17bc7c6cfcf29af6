import { certain, type Diagnostic, type Edit, error } from './diagnostics.ts';

/** Between quotes signs are searched as written. */
const phraseOrWide = /"[^"]*"|[！-｝「」『』　]/g;

/** Signs and letters as East Asian keyboards write them: `（`, `＃`, `ＯＲ` and `「` are text to both platforms. */
export function fullWidth(text: string, report: (diagnostic: Diagnostic) => void): void {
  // Either or all of a list may be meant.
  if (!/[！-｝「」『』]/.test(text) || /[，；]/.test(text)) return;
  const edits = [...text.matchAll(phraseOrWide)].flatMap(({ 0: sign, index }): Edit[] =>
    sign.startsWith('"') ? [] : [{ span: [index, index + 1], text: ascii(sign) }],
  );
  const [first] = edits;
  if (first === undefined) return;
  const message = 'Full-width signs and letters are read as text. Write them in ASCII.';
  const fix = certain({ title: 'Write ASCII', certainty: 'guess', edits });
  report(error('full_width', message, first.span, [fix]));
}

function ascii(sign: string): string {
  if (sign === '　') return ' ';
  if ('「」『』'.includes(sign)) return '"';
  return String.fromCharCode(sign.charCodeAt(0) - 0xfee0);
}
