import { error, replace } from '../../diagnostics.ts';
import type { PlacedAtom, View } from './rule.ts';

/** `~` after a word counts edits; Lucene refuses fractions above one. */
export function fuzzyDistance({ atom }: PlacedAtom, view: View): void {
  const distance = atom.slop?.value ?? null;
  if (atom.kind !== 'term' || atom.slop === null || distance === null) return;
  if (distance < 1 || Number.isInteger(distance)) return;
  const whole = `~${Math.min(2, Math.trunc(distance))}`;
  const message = 'The number of edits must be 0, 1 or 2.';
  view.report(error('bad_fuzzy', message, atom.slop.span, [replace(`Use ${whole}`, atom.slop.span, whole)]));
}
