import { error, type Fix, replace, suspicious } from '../../diagnostics.ts';
import { parseRegex, type RegexSyntax } from '../../pattern-syntax.ts';
import { quote } from '../escape.ts';
import type { Atom } from '../surface.ts';
import { fields } from '../tables.ts';
import { wordsOf } from '../tokenize.ts';
import type { PlacedAtom, View } from './rule.ts';

/** On text a pattern is compared with one word at a time: lower case, without spaces and hyphens. */
export function impossibleRegex({ atom, field }: PlacedAtom, view: View): void {
  if (fields.get(field)?.type !== 'text') return;
  if (atom.kind === 'prefix' || atom.kind === 'wildcard') return impossibleWildcard(atom, view);
  if (atom.kind !== 'regex') return;
  const syntax = parseRegex(atom.value);
  if ('message' in syntax || canMatch(syntax)) return;
  const message =
    'This never matches: it is compared with single words in lower case, which have no spaces, hyphens or capitals. Use quoted words.';
  view.report(error('never_matches', message, atom.span));
}

/** Patterns are lowered, so capitals are no obstacle. */
function impossibleWildcard(atom: Atom, view: View): void {
  const literal = atom.value.replaceAll(/\\([\s\S])|[*?]/g, '$1');
  const foreign = Array.from(literal.toLowerCase()).find((character) => !isOfWord(character));
  if (foreign !== undefined) {
    const words = wordsOf(literal).join(' ');
    const fixes: Fix[] = words === '' ? [] : [replace(`Search for ${quote(words)}`, atom.span, quote(words))];
    const message = `This never matches: it is compared with single words, and no word has ${JSON.stringify(foreign)}. Use quoted words.`;
    view.report(error('never_matches', message, atom.span, fixes));
  } else if (atom.kind === 'wildcard' && /^[\p{L}\p{N}]+\?$/u.test(atom.value)) {
    const word = atom.value.slice(0, -1);
    const message = '`?` stands for exactly one more character here. Remove it to find the word.';
    view.report(suspicious('question_mark', message, atom.span, [replace('Remove the ?', atom.span, word)]));
  }
}

/** Characters that the tokenizer keeps inside a word. */
function isOfWord(character: string): boolean {
  return /[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}_'’.:,·\u2027\u05F3\u05F4]/u.test(character);
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
  for (let code = low; code <= high; code += 1) if (isOfWord(String.fromCodePoint(code))) return true;
  return false;
}
