import { certain, replace, suspicious } from '../../diagnostics.ts';
import { type PlacedAtom, source, type View } from './rule.ts';

/** `\t` and `\n` from JSON source: a backslash makes the next letter literal, so `AND\tfoo` is one word. */
export function escapedSpace({ atom }: PlacedAtom, view: View): void {
  if (atom.kind !== 'term') return;
  const written = source(view, atom.span);
  const found = /(?:^|[^\\])(\\[tnr])/.exec(written)?.[1];
  if (found === undefined) return;
  const message = `\`${found}\` is the letter ${found.charAt(1)} here, not a space.`;
  const fix = certain(replace('Write a space', atom.span, written.replaceAll(/(?<!\\)\\[tnr]/g, ' ')));
  view.report(suspicious('escaped_space', message, atom.span, [fix]));
}
