import type { createPauseRule } from '../../rules/pause-rule.ts';
import type { Route } from '../route.ts';

export function pauseRuleRoute(pauseRule: ReturnType<typeof createPauseRule>): Route<'PauseRule'> {
  return { id: 'PauseRule', handle: (_principal, request, { change }) => pauseRule(request, change) };
}
