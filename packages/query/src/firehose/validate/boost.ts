import { certain, replace, warning } from '../../diagnostics.ts';
import type { View } from './rule.ts';

export function boost(view: View): void {
  for (const { clause } of view.clauses) {
    const span = clause.body.boost;
    if (span === null) continue;
    const message = 'A boost changes the order of search results; here it has no effect.';
    view.report(warning('boost', message, span, [certain(replace('Remove it', span, ''))]));
  }
}
