import type { createDeleteRule } from '../../rules/delete-rule.ts';
import type { Route } from '../route.ts';

export function deleteRuleRoute(deleteRule: ReturnType<typeof createDeleteRule>): Route<'DeleteRule'> {
  return { id: 'DeleteRule', handle: (_principal, request, { change }) => deleteRule(request, change) };
}
