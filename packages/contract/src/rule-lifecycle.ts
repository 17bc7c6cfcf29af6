import {
  alsoWhenFieldsFail,
  distinctPlatforms,
  requestIssue,
  requestObject,
  text,
} from './request-fields.ts';
import { expiresAt, overrideMismatches, overrides, ruleIntent, ruleName, ruleSchema } from './rules.ts';

const ruleId = text({ max: 100, description: 'Id of the rule.' });

export const getRuleRequest = requestObject({ rule_id: ruleId });
export const pauseRuleRequest = requestObject({ rule_id: ruleId });
export const resumeRuleRequest = requestObject({ rule_id: ruleId });

export const updateRuleRequest = requestObject({
  rule_id: ruleId,
  name: ruleName.optional(),
  intent: ruleIntent.optional(),
  platforms: distinctPlatforms
    .optional()
    .meta({ description: 'All platforms that the rule shall be on; together with `overrides`.' }),
  overrides: overrides.optional().meta({
    description: 'Exactly one entry for each listed platform; together with `platforms`.',
  }),
  expires_at: expiresAt.optional(),
}).superRefine((request, context) => {
  const { rule_id: _, ...changes } = request ?? {};
  if (Object.keys(changes).length === 0)
    context.addIssue(requestIssue('required', 'Name at least one field to change.'));
  for (const [given, missing] of [
    ['platforms', 'overrides'],
    ['overrides', 'platforms'],
  ] as const) {
    if (given in changes && !(missing in changes))
      context.addIssue(
        requestIssue('required', `"${missing}" is required together with "${given}".`, [missing]),
      );
  }
  for (const issue of overrideMismatches(request)) context.addIssue(issue);
}, alsoWhenFieldsFail);

export const getRuleAnswer = ruleSchema;
export const updateRuleAnswer = ruleSchema;
export const pauseRuleAnswer = ruleSchema;
export const resumeRuleAnswer = ruleSchema;
