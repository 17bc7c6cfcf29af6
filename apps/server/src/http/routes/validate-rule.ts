import { validateRule } from '../../rules/validate-rule.ts';
import type { Route } from '../route.ts';

export function validateRuleRoute(): Route<'ValidateRule'> {
  return { id: 'ValidateRule', handle: async (_principal, request) => validateRule(request) };
}
