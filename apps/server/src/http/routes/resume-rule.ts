import type { createResumeRule } from '../../rules/resume-rule.ts';
import type { Route } from '../route.ts';

export function resumeRuleRoute(resumeRule: ReturnType<typeof createResumeRule>): Route<'ResumeRule'> {
  return {
    id: 'ResumeRule',
    handle: (principal, request, { change }) => resumeRule(principal, request, change),
  };
}
