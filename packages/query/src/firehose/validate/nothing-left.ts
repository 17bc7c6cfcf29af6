import { error } from '../../diagnostics.ts';
import { isEmptyPhrase } from './empty-phrase.ts';
import type { View } from './rule.ts';

/** A rule that has only stop words matches nothing. */
export function nothingLeft(view: View): void {
  if (view.root !== null || view.clauses.length === 0) return;
  if (view.atoms.some(({ atom }) => isEmptyPhrase(atom))) return;
  const message = 'Only stop words and punctuation: nothing is left to look for. Add a distinctive word.';
  view.report(error('nothing_left', message, [0, view.text.length]));
}
