import { replace, suspicious } from '../../diagnostics.ts';
import type { PlacedAtom, View } from './rule.ts';

/** `a - b` does not exclude b: a sign before a space is a word, and that word is ignored. */
export function loneSign({ atom, group, index }: PlacedAtom, view: View): void {
  if (atom.kind !== 'lone_sign') return;
  const next = group.clauses[index + 1];
  const joins = next !== undefined && next.conjunction === null && next.modifier === null;
  const fixes = joins ? [replace('Remove the space', [atom.span[1], next.span[0]], '')] : [];
  const message = `A \`${view.text.charAt(atom.span[0])}\` with a space behind it is not an operator and is ignored.`;
  view.report(suspicious('lone_sign', message, atom.span, fixes));
}
