import type { createGetRule } from '../../rules/get-rule.ts';
import type { Route } from '../route.ts';

export function getRuleRoute(getRule: ReturnType<typeof createGetRule>): Route<'GetRule'> {
  return { id: 'GetRule', handle: getRule };
}
