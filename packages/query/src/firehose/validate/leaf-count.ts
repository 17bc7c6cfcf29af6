import { error } from '../../diagnostics.ts';
import { limits } from '../tables.ts';
import type { View } from './rule.ts';

export function leafCount(view: View): void {
  const extra = view.atoms[limits.leaves];
  if (extra === undefined) return;
  const message = `The rule has ${view.atoms.length} clauses; ${limits.leaves} are allowed. Split it into several rules.`;
  view.report(error('too_many_clauses', message, [extra.clause.span[0], view.text.length]));
}
