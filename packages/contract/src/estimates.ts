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
      .meta({ description: 'On a typical day (p50), and on a busy one (p90). Null: unknown.' }),
    busiest_hour: z
      .strictObject({
        starts_at: timestamp.meta({ description: 'When the hour begins.' }),
        matches: z.int().min(0).meta({ description: 'How many there were in it.' }),
      })
      .nullable()
      .meta({
        description:
          'The busiest hour of those that the estimate is based on; null if only a part of them was evaluated.',
      }),
    usd_per_day: z
      .strictObject({
        min: usd.meta({ description: 'For the items alone.' }),
        max: usd.meta({ description: 'Including everything that may be delivered with it and charged.' }),
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
      description: 'Whether the numbers are an upper or a lower bound; null if they are not a bound.',
    }),
    basis_note: z.string().meta({ description: 'What the numbers are based on and leave out, for people.' }),
    fee_usd: usd.meta({ description: 'What asking for this estimate cost.' }),
  })
  .meta({ description: 'How much the rule would bring, and cost.' });

export type Estimate = z.output<typeof estimateSchema>;
