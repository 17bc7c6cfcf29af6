import { certain, type Fix, replace, suspicious } from '../../diagnostics.ts';
import { escapeSlashes, quote } from '../escape.ts';
import { fields } from '../tables.ts';
import { type PlacedAtom, source, type View } from './rule.ts';

/** In `url:*\/blog\/*` without backslashes, or in `UI/UX or A/B`, the text between the slashes becomes an expression. */
export function gluedRegex(placed: PlacedAtom, view: View): void {
  if (!isGlued(placed)) return;
  const message =
    'An unescaped `/` starts a regular expression that runs to the next `/`. Quote the word, or write `\\/`.';
  const fixes = view.hasSyntaxErrors ? [] : [fixFor(placed, view)];
  view.report(suspicious('glued_regex', message, placed.atom.span, fixes));
}

function fixFor({ atom, group, index }: PlacedAtom, view: View): Fix {
  const before = group.clauses[index - 1];
  const start = before?.body.span[0] ?? atom.span[0];
  const field = before?.field?.name ?? '';
  const isPattern =
    fields.get(field)?.type === 'keyword' || /[*?]/.test(view.text.slice(start, atom.span[0]));
  const run = /^[^\s()]*/.exec(view.text.slice(start))?.[0] ?? '';
  if (isPattern)
    return certain(replace('Escape the slashes', [start, start + run.length], escapeSlashes(run)));
  const end = atom.span[0] + (/^\/[^\s/()]*/.exec(source(view, atom.span))?.[0].length ?? 1);
  return certain(replace('Quote the word', [start, end], quote(view.text.slice(start, end))));
}

export function isGlued({ atom, clause, group, index }: PlacedAtom): boolean {
  return atom.kind === 'regex' && group.clauses[index - 1]?.span[1] === clause.span[0];
}
