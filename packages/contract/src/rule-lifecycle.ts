import {
  alsoWhenFieldsFail,
  distinctPlatforms,
  requestIssue,
  requestObject,
  text,
} from './request-fields.ts';
import { ruleExamples } from './rule-examples.ts';
import {
  expiresAt,
  ifVersion,
  managedBy,
  overrideMismatches,
  overrides,
  ruleIntent,
  ruleName,
  ruleSchema,
} from './rules.ts';

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
  examples: ruleExamples.nullable().optional().meta({
    description:
      'In place of those that the rule has; null for none. Left out, the present ones are checked.',
  }),
  managed_by: managedBy.nullable().optional().meta({
    description: 'Gives the rule to a set of rules that are kept as code; null takes it out.',
  }),
  if_version: ifVersion,
}).superRefine((request, context) => {
  const { rule_id: _, if_version: __, ...changes } = request ?? {};
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
