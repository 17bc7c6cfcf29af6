import type { createUpdateRule } from '../../rules/update-rule.ts';
import type { Route } from '../route.ts';

export function updateRuleRoute(updateRule: ReturnType<typeof createUpdateRule>): Route<'UpdateRule'> {
  return {
    id: 'UpdateRule',
    handle: (principal, request, { change }) => updateRule(principal, request, change),
  };
}
