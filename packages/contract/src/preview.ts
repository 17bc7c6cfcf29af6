import { z } from 'zod';
import { diagnosticSchema } from './answer-fields.ts';
import { estimateSchema } from './estimates.ts';
import { matchSchema } from './matches.ts';
import { defineOperations } from './operation.ts';
import { perPlatform } from './platforms.ts';
import { alsoWhenFieldsFail, integer, requestObject, text } from './request-fields.ts';
import {
  emptyOverrides,
  optionalPlatforms,
  optionMismatches,
  overrideMismatches,
  overrides,
  platformOptions,
} from './rule-fields.ts';

const count = z.int().min(0);

const sampleSchema = z.strictObject({
  evaluated: count.meta({ description: 'Stored items that the value was evaluated on.' }),
  stored: count.meta({
    description: 'Items of the account from these days; when `is_sampled`, an estimate.',
  }),
  is_sampled: z.boolean().meta({ description: 'Whether only a random sample of them was evaluated.' }),
  matched: count.meta({ description: 'Evaluated items that match.' }),
  undecided: count.meta({
    description: 'Evaluated items that lack what is needed to decide whether the value matches.',
  }),
  matches: z
    .array(
      matchSchema.pick({
        id: true,
        rule_id: true,
        created_at: true,
        platform: true,
        platform_post_id: true,
        payload: true,
        why: true,
      }),
    )
    .max(10)
    .meta({
      description:
        'Up to ten of them, newest first, `id` and `rule_id` being those of the stored match; undecided ones only where there are no others. `why` refers to `translated_value`. Empty when the key lacks the scope `matches:read`.',
    }),
});

const againstSchema = z
  .strictObject({
    added: count.meta({ description: 'Items that only the draft matches.' }),
    removed: count.meta({ description: 'Items that only the current value matches.' }),
    undecided: count.meta({ description: 'Items for which one of the two values cannot be decided.' }),
    is_estimate: z.boolean().meta({
      description: 'The numbers are scaled from the evaluated items to all stored items.',
    }),
  })
  .meta({ description: 'Compared with the value that the rule has now, over the same items.' });

export const previewOperations = defineOperations('Rules', {
  PreviewRule: {
    scope: 'rules:read',
    changes: false,
    summary: 'Preview a rule',
    description:
      'Shows what a query would match: how many matches a day and their cost, which stored items of the account it matches, and how it differs from an existing rule. Nothing is created. Errors in a query are refused as CreateRule does; suspicious findings are in `warnings`.',
    request: requestObject({
      platforms: optionalPlatforms,
      overrides,
      options: platformOptions.optional(),
      rule_id: text({ max: 100, description: 'A rule to compare the draft with.' }).optional(),
      days: integer(1, 3_650).default(7).meta({
        description: 'How many days of stored items to evaluate; at most the retention of matches.',
      }),
    }).superRefine((request, context) => {
      for (const issue of emptyOverrides(request)) context.addIssue(issue);
      for (const issue of overrideMismatches(request)) context.addIssue(issue);
      for (const issue of optionMismatches(request)) context.addIssue(issue);
    }, alsoWhenFieldsFail),
    answer: z.strictObject({
      platforms: perPlatform(
        z.strictObject({
          translated_value: z.string().meta({ description: 'The canonical value that was evaluated.' }),
          warnings: z.array(diagnosticSchema).meta({
            description: 'Findings about the query. CreateRule refuses a `suspicious` one.',
          }),
          estimate: estimateSchema,
          sample: sampleSchema.meta({
            description: 'How the draft evaluates on the stored items of the account.',
          }),
          against: againstSchema.optional(),
        }),
      ),
    }),
    errors: ['not_found'],
    example: {
      request: {
        platforms: ['x'],
        overrides: { x: '"rust 2027" release -is:retweet' },
        rule_id: 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p',
      },
      answer: {
        platforms: {
          x: {
            translated_value: '"rust 2027" release -is:retweet',
            warnings: [],
            estimate: {
              matches_per_day: { average: 120, busiest: 171, days: 7 },
              busiest_hour: { starts_at: '2026-11-12T15:00:00.000Z', matches: 31 },
              usd_per_day: { min: 0.6, max: 1.8 },
              usd_per_month: { min: 18, max: 54 },
              basis: 'history',
              bound: null,
              basis_note: 'Matches of your rule with this query in 7 days.',
              fee_usd: 0,
            },
            sample: {
              evaluated: 1_043,
              stored: 1_043,
              is_sampled: false,
              matched: 840,
              undecided: 0,
              matches: [],
            },
            against: { added: 14, removed: 203, undecided: 0, is_estimate: false },
          },
        },
      },
    },
  },
});

export type Preview = NonNullable<z.output<typeof previewOperations.PreviewRule.answer>['platforms']['x']>;
