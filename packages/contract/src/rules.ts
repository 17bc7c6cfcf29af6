import { z } from 'zod';
import { diagnosticSchema, nextCursor, ruleId, timestamp } from './answer-fields.ts';
import { budget, trial, trialConflicts } from './budgets.ts';
import { defineOperations } from './operation.ts';
import { perPlatform } from './platforms.ts';
import {
  alsoWhenFieldsFail,
  distinctPlatforms,
  pageCursor,
  queryInteger,
  requestIssue,
  requestObject,
  text,
} from './request-fields.ts';
import { ruleExamples } from './rule-examples.ts';
import {
  acceptEstimate,
  acceptSuspicious,
  emptyOverrides,
  expiresAt,
  ifVersion,
  managedBy,
  optionMismatches,
  overrideMismatches,
  overrides,
  platformOptions,
  ruleAlerts,
  ruleIntent,
  ruleName,
  rulePlatformSchema,
  ruleRelevance,
  ruleSchema,
} from './rule-fields.ts';

const askedRuleId = text({ max: 100, description: 'Id of the rule.' });

const exampleId = 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p';
const exampleExamples = {
  must_match: [{ platform: 'x', payload: { text: 'The Rust 2027 release is out' } }],
  must_not_match: [{ platform: 'x', payload: { text: 'How to get rust off a 2027 model' } }],
} as const;
const exampleBudget = { period: 'day', usd: 5, on_reached: 'pause' } as const;
const exampleRule = {
  id: exampleId,
  name: 'Rust release chatter',
  intent: 'Follow new Rust releases and the problems that people have with them.',
  created_at: '2026-11-14T22:46:00.000Z',
  updated_at: '2026-11-14T22:46:00.000Z',
  version: 1,
  state: 'active',
  expires_at: null,
  budget: exampleBudget,
  effective_budget: {
    ...exampleBudget,
    spent: 0.045,
    remaining: 4.955,
    reserved: 0.0175,
    forecast: 0.98,
    resets_at: '2026-11-15T00:00:00.000Z',
  },
  pause: null,
  examples: exampleExamples,
  relevance: null,
  alerts: null,
  managed_by: null,
  platforms: {
    x: {
      platform_rule_id: '1989471234567890123',
      value: '"rust 2027" (release OR broke) -is:retweet',
      translated_value: '"rust 2027" (broke OR release) -is:retweet',
      status: 'active',
      listening: { state: 'live', reason: null, since: '2026-11-14T22:46:00.412Z' },
      rule_type: 'premium',
      last_match_at: '2026-11-14T22:51:09.120Z',
      match_count: 3,
    },
  },
} as const;

const notMatchedYet = { last_match_at: null, match_count: 0, warnings: [] };

export const ruleOperations = defineOperations('Rules', {
  CreateRule: {
    scope: 'rules:write',
    changes: true,
    summary: 'Create a rule',
    description:
      'Creates the rule on all listed platforms, or fails and leaves nothing behind. Its `examples` are checked first.',
    request: requestObject({
      name: ruleName,
      intent: ruleIntent,
      platforms: distinctPlatforms.meta({ description: 'Platforms to create the rule on.' }),
      overrides,
      options: platformOptions.optional(),
      accept_suspicious: acceptSuspicious,
      expires_at: expiresAt.optional(),
      budget: budget.optional(),
      trial: trial.optional(),
      accept_estimate: acceptEstimate,
      allow_equivalent: z.boolean().optional().meta({
        description:
          'Default true. False: refuse the rule if another rule of the account has the same queries.',
      }),
      examples: ruleExamples.optional(),
      relevance: ruleRelevance.optional(),
      alerts: ruleAlerts.optional(),
      managed_by: managedBy.optional(),
    }).superRefine((request, context) => {
      for (const issue of overrideMismatches(request)) context.addIssue(issue);
      for (const issue of optionMismatches(request)) context.addIssue(issue);
      for (const issue of trialConflicts(request)) context.addIssue(issue);
    }, alsoWhenFieldsFail),
    answer: ruleSchema.extend({
      rule_id: ruleId,
      platforms: perPlatform(
        rulePlatformSchema.extend({
          warnings: z
            .array(diagnosticSchema)
            .meta({ description: 'Findings about the query that did not prevent its registration.' }),
        }),
      ),
      equivalent_rule_id: ruleId.optional().meta({
        description:
          'A rule of the account that has the same queries on the same platforms, if there is one.',
      }),
    }),
    errors: ['already_exists', 'failed_precondition', 'aborted', 'deadline_exceeded'],
    example: {
      request: {
        name: 'Rust release chatter',
        intent: 'Follow new Rust releases and the problems that people have with them.',
        platforms: ['x', 'firehose'],
        overrides: {
          x: '"rust 2027" (release OR broke) -is:retweet',
          firehose: '"rust 2027" AND (release OR broke)',
        },
        budget: exampleBudget,
        examples: exampleExamples,
      },
      answer: {
        ...exampleRule,
        rule_id: exampleId,
        effective_budget: {
          ...exampleRule.effective_budget,
          spent: 0,
          remaining: 5,
          reserved: 0,
          forecast: null,
        },
        platforms: {
          x: { ...exampleRule.platforms.x, ...notMatchedYet },
          firehose: {
            platform_rule_id: '48213',
            value: '"rust 2027" AND (release OR broke)',
            translated_value: '(added:"broke" OR added:"release") AND added:"rust 2027"',
            status: 'active',
            listening: { state: 'live', reason: null, since: '2026-11-14T22:46:00.310Z' },
            rule_type: 'regular',
            ...notMatchedYet,
          },
        },
      },
    },
  },
  ListRules: {
    method: 'GET',
    scope: 'rules:read',
    changes: false,
    summary: 'List rules',
    description:
      'Lists the rules of the account, newest first. Without parameters, all rules are listed. Also accepts POST with a JSON body.',
    request: requestObject({
      limit: queryInteger(1, 1_000)
        .optional()
        .meta({ description: 'Rules per page. Without it, all rules are listed.' }),
      cursor: pageCursor,
    }),
    answer: z.strictObject({
      rules: z.array(ruleSchema).meta({ description: 'Newest first.' }),
      next_cursor: nextCursor,
    }),
    example: { request: { limit: '100' }, answer: { rules: [exampleRule], next_cursor: null } },
  },
  GetRule: {
    scope: 'rules:read',
    changes: false,
    summary: 'Get a rule',
    description: 'Returns one rule.',
    request: requestObject({ rule_id: askedRuleId }),
    answer: ruleSchema,
    errors: ['not_found'],
    example: { request: { rule_id: exampleId }, answer: exampleRule },
  },
  UpdateRule: {
    scope: 'rules:write',
    changes: true,
    summary: 'Change a rule',
    description:
      'Changes the fields that you send, as the next version of the rule. A new value is registered before the old one is removed, so nothing is missed in between; for some seconds the old one may still match, and such matches have its version. When a platform refuses the new value, the rule stays as it was.',
    request: requestObject({
      rule_id: askedRuleId,
      name: ruleName.optional(),
      intent: ruleIntent.optional(),
      platforms: distinctPlatforms.optional().meta({
        description:
          'All platforms of the rule. Without `overrides`, the rule leaves the other platforms, and returns to platforms that it had left with its previous values.',
      }),
      overrides: overrides.optional().meta({
        description:
          'New values. Without `platforms`, only the named platforms change; with `platforms`, exactly one for each of these.',
      }),
      options: platformOptions.optional().meta({
        description:
          "New options of the platforms named here, in place of those that they have: what is left out has the platform's default.",
      }),
      accept_suspicious: acceptSuspicious,
      expires_at: expiresAt.optional(),
      budget: budget.nullable().optional().meta({
        description:
          'Replaces the current one; null for none. A rule that was paused for its budget resumes within seconds when the new one is not reached.',
      }),
      accept_estimate: acceptEstimate,
      examples: ruleExamples.nullable().optional().meta({
        description: 'Replaces the current ones; null for none. If missing, the current ones are checked.',
      }),
      relevance: ruleRelevance.nullable().optional().meta({
        description: 'Replaces the current one; null: the judge no longer checks its matches. Verdicts stay.',
      }),
      alerts: ruleAlerts.optional(),
      managed_by: managedBy.nullable().optional().meta({
        description: 'Gives the rule to a set of rules that are kept as code; null takes it out.',
      }),
      if_version: ifVersion,
    }).superRefine((request, context) => {
      const {
        rule_id: _,
        if_version: __,
        accept_suspicious: ___,
        accept_estimate: ____,
        ...changes
      } = request ?? {};
      if (Object.keys(changes).length === 0)
        context.addIssue(requestIssue('required', 'Name at least one field to change.'));
      for (const issue of emptyOverrides(request)) context.addIssue(issue);
      for (const issue of overrideMismatches(request)) context.addIssue(issue);
      for (const issue of optionMismatches(request)) context.addIssue(issue);
    }, alsoWhenFieldsFail),
    answer: ruleSchema,
    errors: ['not_found', 'already_exists', 'failed_precondition', 'aborted', 'deadline_exceeded'],
    example: {
      request: {
        rule_id: exampleId,
        platforms: ['x'],
        overrides: { x: '"rust 2027" release' },
        expires_at: '2026-12-31T00:00:00.000Z',
      },
      answer: {
        ...exampleRule,
        updated_at: '2026-11-15T07:00:00.000Z',
        version: 2,
        expires_at: '2026-12-31T00:00:00.000Z',
        platforms: {
          x: {
            ...exampleRule.platforms.x,
            platform_rule_id: '1989480000000000001',
            value: '"rust 2027" release',
            translated_value: '"rust 2027" release',
            listening: { state: 'live', reason: null, since: '2026-11-15T06:59:59.800Z' },
          },
        },
      },
    },
  },
  PauseRule: {
    scope: 'rules:write',
    changes: true,
    summary: 'Pause a rule',
    description:
      'Removes the rule from its platforms, and keeps the rule and its matches. A paused rule still counts towards the plan. Pausing a paused rule succeeds and changes nothing; if a budget paused it, it no longer resumes automatically.',
    request: requestObject({ rule_id: askedRuleId }),
    answer: ruleSchema,
    errors: ['not_found', 'aborted'],
    example: {
      request: { rule_id: exampleId },
      answer: {
        ...exampleRule,
        updated_at: '2026-11-15T07:30:00.000Z',
        state: 'paused',
        pause: { reason: 'request', resumes_at: null },
        platforms: {
          x: {
            ...exampleRule.platforms.x,
            platform_rule_id: '',
            status: 'paused',
            listening: { state: 'paused', reason: null, since: null },
          },
        },
      },
    },
  },
  ResumeRule: {
    scope: 'rules:write',
    changes: true,
    summary: 'Resume a paused rule',
    description:
      'Registers the rule on all its platforms again, or fails and leaves it paused. A rule that was paused for a budget is not resumed before the next period: give it a larger one with UpdateRule.',
    request: requestObject({ rule_id: askedRuleId, accept_estimate: acceptEstimate }),
    answer: ruleSchema,
    errors: ['not_found', 'failed_precondition', 'aborted', 'deadline_exceeded'],
    example: {
      request: { rule_id: exampleId },
      answer: { ...exampleRule, updated_at: '2026-11-15T07:45:00.000Z' },
    },
  },
  DeleteRule: {
    scope: 'rules:write',
    changes: true,
    summary: 'Delete a rule',
    description:
      'Deletes the rule. Its matches are no longer listed, and it is removed from the platforms within seconds.',
    request: requestObject({
      rule_id: text({ max: 100, description: 'Id of the rule to delete.' }),
      if_version: ifVersion,
    }),
    answer: z.strictObject({
      rule_id: ruleId,
      deleted_at: timestamp.meta({ description: 'When it was deleted.' }),
    }),
    errors: ['not_found', 'failed_precondition', 'aborted'],
    example: {
      request: { rule_id: exampleId },
      answer: { rule_id: exampleId, deleted_at: '2026-11-15T08:00:00.000Z' },
    },
  },
});
