import { z } from 'zod';
import { ruleId } from './answer-fields.ts';
import { defineOperations } from './operation.ts';
import { platformSchema } from './platforms.ts';
import { alsoWhenFieldsFail, fromBeforeTo, requestObject, requestTime, text } from './request-fields.ts';

const day = z.iso.date().meta({ examples: ['2026-11-14'] });
const amount = z.number().min(0);

const figures = {
  matches: z.int().min(0).meta({ description: 'Matches of your rules.' }),
  resources: z
    .strictObject({
      posts: amount.meta({ description: 'Posts that matched.' }),
      referenced_posts: amount.meta({ description: 'Posts that were delivered with a post.' }),
      users: amount.meta({ description: 'Authors and other users that were delivered with a post.' }),
      pages: amount.meta({ description: 'Pages that matched.' }),
    })
    .meta({
      description:
        'What the matches consist of. An item that several of your rules matched is divided among them, so the numbers can be fractions.',
    }),
  usd: z
    .strictObject({
      min: amount.meta({ description: 'Posts and pages alone.' }),
      max: amount.meta({ description: 'With everything that was delivered with them.' }),
    })
    .meta({
      description:
        'Cost in US dollars. `min`: posts and pages alone. `max`: with everything that was delivered with them, each time it was delivered. It is not documented which of the two a platform charges.',
    }),
};

export const usageOperations = defineOperations('Usage', {
  GetUsage: {
    scope: 'matches:read',
    changes: false,
    summary: 'Get usage',
    description:
      'Returns how much your rules matched and its cost, per UTC day or per rule. It depends only on your own matches. Deleted rules are included.',
    request: requestObject({
      rule_id: text({ max: 100, description: 'Only this rule.' }).optional(),
      platform: platformSchema.optional().meta({ description: 'Only this platform.' }),
      from: requestTime.optional().meta({
        description: 'Start of the window: the UTC day of this time. Default: 29 days before its end.',
      }),
      to: requestTime
        .optional()
        .meta({ description: 'End of the window: the UTC day of this time, included. Default: today.' }),
      by: z.enum(['day', 'rule']).optional().meta({
        description: 'One entry per day or rule, and platform. Default: one per platform.',
      }),
    }).superRefine((request, context) => {
      for (const issue of fromBeforeTo(request)) context.addIssue(issue);
    }, alsoWhenFieldsFail),
    answer: z.strictObject({
      usage: z
        .array(
          z.strictObject({
            day: day.optional().meta({ description: 'Only with `by: "day"`: the UTC day.' }),
            rule_id: ruleId.optional().meta({ description: 'Only with `by: "rule"`.' }),
            rule_name: z
              .string()
              .nullable()
              .optional()
              .meta({ description: 'Only with `by: "rule"`: its name; null if the rule was deleted.' }),
            platform: platformSchema.meta({ description: 'Where the matches are from.' }),
            ...figures,
          }),
        )
        .meta({
          description:
            'By day: in chronological order, without days that have no matches. By rule: the most expensive first, at most 1,000.',
        }),
      total: z.strictObject(figures).meta({ description: 'Of everything in the window.' }),
      judge: z
        .strictObject({
          calls: z.int().min(0).meta({ description: 'Calls of the judge.' }),
          usd: amount.meta({ description: 'What they cost at most, in US dollars.' }),
        })
        .optional()
        .meta({ description: 'What the judge cost in the window, besides; absent if it was not called.' }),
      prices_as_of: day.meta({ description: 'The day on which the prices were checked.' }),
    }),
    errors: ['not_found'],
    example: {
      request: { from: '2026-11-13T00:00:00.000Z', to: '2026-11-14T22:46:00.000Z', by: 'day' },
      answer: {
        usage: [
          {
            day: '2026-11-13',
            platform: 'x',
            matches: 120,
            resources: { posts: 120, referenced_posts: 0, users: 120, pages: 0 },
            usd: { min: 0.6, max: 1.8 },
          },
          {
            day: '2026-11-14',
            platform: 'x',
            matches: 95,
            resources: { posts: 90.5, referenced_posts: 0, users: 90.5, pages: 0 },
            usd: { min: 0.4525, max: 1.3575 },
          },
        ],
        total: {
          matches: 215,
          resources: { posts: 210.5, referenced_posts: 0, users: 210.5, pages: 0 },
          usd: { min: 1.0525, max: 3.1575 },
        },
        prices_as_of: '2026-08-22',
      },
    },
  },
});
