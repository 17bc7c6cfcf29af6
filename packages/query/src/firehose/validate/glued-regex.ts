import { replace, warning } from '../../diagnostics.ts';
import { quote } from '../escape.ts';
import { type PlacedAtom, source, type View } from './rule.ts';

/** In `UI/UX design for A/B tests` the text between the slashes becomes a regular expression. */
export function gluedRegex(placed: PlacedAtom, view: View): void {
  if (!isGlued(placed)) return;
  const { atom, group, index } = placed;
  const start = group.clauses[index - 1]?.body.span[0] ?? atom.span[0];
  const end = atom.span[0] + (/^\/[^\s/()]*/.exec(source(view, atom.span))?.[0].length ?? 1);
  const message = 'An unquoted `/` starts a regular expression that runs to the next `/`. Quote the word.';
  const fix = replace('Quote the word', [start, end], quote(view.text.slice(start, end)));
  view.report(warning('glued_regex', message, atom.span, view.hasSyntaxErrors ? [] : [fix]));
}

export function isGlued({ atom, clause, group, index }: PlacedAtom): boolean {
  return atom.kind === 'regex' && group.clauses[index - 1]?.span[1] === clause.span[0];
}
