import { z } from 'zod';
import { timestamp } from './answer-fields.ts';
import { defineOperations } from './operation.ts';
import { platformSchema } from './platforms.ts';
import { alsoWhenFieldsFail, fromBeforeTo, requestObject, requestTime, text } from './request-fields.ts';

const repairSchema = z
  .strictObject({
    state: z
      .enum(['waiting', 'repaired', 'impossible'])
      .meta({ description: 'Whether what was missed has been fetched.' }),
    via: z.enum(['replay', 'recovery', 'search']).nullable().meta({
      description:
        '`replay` and `recovery`: the platform delivered stored items again. `search`: Earshot searched the platform for the rule in that period.',
    }),
    reason: z.string().nullable().meta({ description: 'Why the repair waits, or why it is impossible.' }),
    fidelity: z.array(z.string()).meta({
      description:
        'What a search misses: `retweets_missing`, `deleted_posts_missing`, `quoted_text_not_searched`. What it finds in addition: `accents_ignored`. Empty: complete.',
    }),
    matches: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: 'Posts that a search found for the rule; null if they were not counted.' }),
  })
  .meta({ description: 'What was done about a gap.' });

const intervalSchema = z.strictObject({
  platform: platformSchema.meta({ description: 'The platform of the interval.' }),
  state: z.enum(['live', 'gap', 'repaired', 'starting', 'not_watched']).meta({
    description:
      '`live`: covered. `gap`: Earshot received nothing, although the rule was active. `repaired`: a gap that was filled later. `starting`: the platform had the rule but did not apply it yet; `to` may be in the future. `not_watched`: the rule was paused or not registered yet; without `rule_id`, the account had no rule on the platform.',
  }),
  from: timestamp.meta({ description: 'When it begins.' }),
  to: timestamp.nullable().meta({ description: 'Null while a gap lasts.' }),
  reason: z.string().nullable().meta({ description: 'Why there is a gap.' }),
  repair: repairSchema.nullable(),
});

export const coverageOperations = defineOperations('Coverage', {
  GetCoverage: {
    scope: 'matches:read',
    changes: false,
    summary: 'Get coverage',
    description:
      'Returns the periods in which Earshot received a rule or a platform, the gaps, and their repairs. With it, you can distinguish a quiet period from an outage.',
    request: requestObject({
      rule_id: text({ max: 100, description: 'Only the coverage of this rule.' }).optional(),
      platform: platformSchema.optional().meta({ description: 'Only this platform.' }),
      from: requestTime
        .optional()
        .meta({ description: 'Start of the window. Default: a day before its end.' }),
      to: requestTime.optional().meta({ description: 'End of the window. Default: now.' }),
      planned_ends: z.boolean().optional().meta({
        description:
          'Also show planned interruptions by a platform that were replayed completely. By default they count as live.',
      }),
    }).superRefine((request, context) => {
      for (const issue of fromBeforeTo(request)) context.addIssue(issue);
    }, alsoWhenFieldsFail),
    answer: z.strictObject({
      from: timestamp.meta({
        description:
          'Start of the time that the answer covers: later than requested if that is too much, or too old.',
      }),
      to: timestamp.meta({ description: 'End of the time that the answer covers.' }),
      complete_through: timestamp.nullable().meta({
        description: 'Complete up to this time, apart from the gaps. Null: nothing was covered.',
      }),
      intervals: z.array(intervalSchema).meta({ description: 'Per platform, in chronological order.' }),
    }),
    errors: ['not_found'],
    example: {
      request: { rule_id: 'rule_01kb2m8yx4e5r6t7v8w9x0y1z2', from: '2026-11-14T22:47:00.000Z' },
      answer: {
        from: '2026-11-14T22:47:00.000Z',
        to: '2026-11-14T22:51:11.000Z',
        complete_through: '2026-11-14T22:51:10.000Z',
        intervals: [
          {
            platform: 'x',
            state: 'live',
            from: '2026-11-14T22:47:00.000Z',
            to: '2026-11-14T22:48:00.000Z',
            reason: null,
            repair: null,
          },
          {
            platform: 'x',
            state: 'repaired',
            from: '2026-11-14T22:48:00.000Z',
            to: '2026-11-14T22:48:04.250Z',
            reason: 'dropped',
            repair: {
              state: 'repaired',
              via: 'search',
              reason: null,
              fidelity: ['retweets_missing', 'deleted_posts_missing'],
              matches: 2,
            },
          },
          {
            platform: 'x',
            state: 'live',
            from: '2026-11-14T22:48:04.250Z',
            to: '2026-11-14T22:51:10.000Z',
            reason: null,
            repair: null,
          },
        ],
      },
    },
  },
});
