import { replace, suspicious } from '../../diagnostics.ts';
import type { Group } from '../surface.ts';
import type { View } from './rule.ts';

/** `a OR NOT b` is `a AND NOT b`: an exclusion applies to the whole level, whatever the operator before it. */
export function orNot(group: Group, view: View): void {
  for (const { conjunction, modifier } of group.clauses) {
    if (conjunction?.kind !== 'or' || modifier?.kind !== 'prohibit') continue;
    const message =
      '`OR NOT` does not widen the rule: the exclusion applies to everything in this group. Write AND NOT.';
    const fix = replace('Write AND NOT', conjunction.span, 'AND');
    view.report(suspicious('or_not', message, [conjunction.span[0], modifier.span[1]], [fix]));
  }
}
