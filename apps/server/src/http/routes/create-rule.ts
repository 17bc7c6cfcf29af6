import type { createCreateRule } from '../../rules/create-rule.ts';
import type { Route } from '../route.ts';

export function createRuleRoute(createRule: ReturnType<typeof createCreateRule>): Route<'CreateRule'> {
  return {
    id: 'CreateRule',
    handle: (principal, request, { change }) => createRule(principal, request, change),
  };
}
