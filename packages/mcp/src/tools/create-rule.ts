import { listedPlatforms, requestObject } from '@earshot/contract';
import { z } from 'zod';
import { assertCheap } from '../confirm-cost.ts';
import { firstFindings, toFinding } from '../finding.ts';
import { describePlatforms, perPlatform } from '../per-platform.ts';
import {
  acceptEstimate,
  acceptSuspicious,
  budget,
  examples,
  expiresAt,
  options,
  overrides,
  platforms,
  readBudget,
  readExamples,
  readExpiry,
  readTrial,
  trial,
} from '../rule-fields.ts';
import { defineTool } from '../tool.ts';

export const createRule = defineTool({
  name: 'create_rule',
  title: 'Create a rule',
  description:
    'Watch from now on (not the past), on all listed platforms or on none. Read platform_syntax first. Mistakes are refused with fixes, and with corrected queries if certain; so is a rule with the same queries as another one.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  operation: 'CreateRule',
  input: requestObject({
    name: z.string().meta({ description: 'Short, for people' }),
    intent: z.string().meta({ description: 'What the user wants to know, what not' }),
    platforms: platforms.optional().meta({
      description: `${describePlatforms(
        (platform, { items, ruleType }) => `${platform}: ${items} (${ruleType})`,
        '; ',
      )}. Default: those of overrides`,
    }),
    overrides,
    options: options.optional(),
    examples: examples.optional(),
    accept_suspicious: acceptSuspicious,
    expires_at: expiresAt.optional(),
    budget: budget.optional(),
    trial: trial.optional(),
    accept_estimate: acceptEstimate,
    allow_equivalent: z
      .boolean()
      .optional()
      .meta({ description: 'Only if your user wants a second such rule' }),
  }),
  output: z.object({
    rule_id: z.string(),
    platforms: z.record(
      z.string(),
      z.object({
        status: z.string(),
        translated_value: z.string(),
        // As validate_rule describes them.
        warnings: z.array(z.looseObject({})),
      }),
    ),
    next: z.string(),
  }),
  async run(args, call) {
    const { earshot, signal } = call;
    const request = {
      ...readExpiry(args),
      allow_equivalent: args.allow_equivalent ?? false,
      platforms: [...listedPlatforms(args)],
      examples: readExamples(args.examples),
      budget: readBudget(args.budget) ?? undefined,
      trial: readTrial(args.trial),
    };
    const { name, platforms: listed, overrides: queries, options: chosen } = request;
    const draft = { platforms: listed, overrides: queries, options: chosen };
    if (!args.accept_estimate) await assertCheap({ name, draft }, call);
    const { platforms: created, ...answer } = await earshot.createRule(request, { signal });
    return {
      structured: {
        ...answer,
        next: `wait_for_matches {"reader":"a name of your choice","rule_id":${JSON.stringify(answer.rule_id)}}`,
        platforms: perPlatform(created, ({ status, translated_value, warnings }, name) => ({
          status,
          translated_value,
          warnings: firstFindings(warnings.map((found) => toFinding(args.overrides[name], found))),
        })),
      },
    };
  },
});
