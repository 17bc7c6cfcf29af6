import { error } from '../../diagnostics.ts';
import { parseRegex, type RegexSyntax } from '../../pattern-syntax.ts';
import { fields } from '../tables.ts';
import type { PlacedAtom, View } from './rule.ts';

/** On text an expression is compared with one word at a time: lower case, without spaces and hyphens. */
export function impossibleRegex({ atom, field }: PlacedAtom, view: View): void {
  if (atom.kind !== 'regex' || fields.get(field)?.type !== 'text') return;
  const syntax = parseRegex(atom.value);
  if ('message' in syntax || canMatch(syntax)) return;
  const message =
    'This never matches: it is compared with single words in lower case, which have no spaces, hyphens or capitals. Use quoted words.';
  view.report(error('never_matches', message, atom.span));
}

/** False only when every way through the expression needs a character that no word has. */
function canMatch(syntax: RegexSyntax): boolean {
  switch (syntax.op) {
    case 'set':
      return syntax.ranges.some(
        ([low, high]) => high - low > 'Z'.charCodeAt(0) || hasWordCharacter(low, high),
      );
    case 'cat':
    case 'all':
      return syntax.of.every(canMatch);
    case 'any':
      return syntax.of.some(canMatch);
    case 'repeat':
      return syntax.min === 0 || canMatch(syntax.of);
    case 'not':
      return true;
  }
}

function hasWordCharacter(low: number, high: number): boolean {
  for (let code = low; code <= high; code += 1)
    if (!/[A-Z\s/&@#+%!?()-]/.test(String.fromCodePoint(code))) return true;
  return false;
}
