import { z } from 'zod';
import { timestamp } from './answer-fields.ts';

const usd = z.number().min(0);

export const estimateSchema = z
  .strictObject({
    matches_per_day: z
      .strictObject({
        p50: z.number().min(0).meta({ description: 'On a typical day.' }),
        p90: z.number().min(0).meta({ description: 'On one of the ten busiest of a hundred.' }),
      })
      .nullable()
      .meta({ description: 'On a typical day, and on one of the ten busiest of a hundred. Null: unknown.' }),
    busiest_hour: z
      .strictObject({
        starts_at: timestamp.meta({ description: 'When the hour begins.' }),
        matches: z.int().min(0).meta({ description: 'How many there were in it.' }),
      })
      .nullable()
      .meta({
        description:
          'The hour with the most matches of those that the estimate rests on; null when only a part of them was looked at.',
      }),
    usd_per_day: z
      .strictObject({
        min: usd.meta({ description: 'For the items alone.' }),
        max: usd.meta({ description: 'With everything that may come along and be charged.' }),
      })
      .nullable()
      .meta({
        description:
          'What a typical day (`p50`) costs: `min` for the items alone, `max` with everything that may come along with them and be charged.',
      }),
    basis: z.enum(['counts', 'history', 'trial', 'bound', 'unknown']).meta({
      description:
        "`history`: a rule of the account that has this value. `counts`: the platform's own counts. `bound`: stored items only. `trial`: a rule that ran for a while to find out.",
    }),
    bound: z.enum(['at_least', 'at_most']).nullable().meta({
      description: 'Whether the numbers are a bound, and on which side the truth is; null when they are not.',
    }),
    basis_note: z.string().meta({ description: 'What the numbers rest on and leave out, for people.' }),
    fee_usd: usd.meta({ description: 'What asking for this estimate cost.' }),
  })
  .meta({ description: 'How much the rule would bring, and cost.' });

export type Estimate = z.output<typeof estimateSchema>;
