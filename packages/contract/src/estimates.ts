import { z } from 'zod';
import { timestamp } from './answer-fields.ts';

const usd = z.number().min(0);

export const estimateSchema = z
  .strictObject({
    matches_per_day: z
      .strictObject({
        average: z.number().min(0).meta({ description: 'On an average day.' }),
        busiest: z.number().min(0).nullable().meta({
          description:
            'On the busiest of these days; null if fewer than two whole days are known, or if the numbers are a bound.',
        }),
        days: z.int().min(0).meta({
          description: 'How many whole days are known; with 0 the average is scaled up from a part of a day.',
        }),
      })
      .nullable()
      .meta({ description: 'On an average day, and on the busiest one. Null: unknown.' }),
    busiest_hour: z
      .strictObject({
        starts_at: timestamp.meta({ description: 'When the hour begins.' }),
        matches: z.int().min(0).meta({ description: 'How many there were in it.' }),
      })
      .nullable()
      .meta({
        description:
          'The busiest hour of these days; null if only a part of them was evaluated, or if the numbers are a bound.',
      }),
    usd_per_day: z
      .strictObject({
        min: usd.meta({ description: 'For the items alone.' }),
        max: usd.meta({ description: 'Including everything that may be delivered with it and charged.' }),
      })
      .nullable()
      .meta({
        description:
          'What an average day costs: `min` for the items alone, `max` with everything that may come along with them and be charged.',
      }),
    usd_per_month: z
      .strictObject({
        min: usd.meta({ description: 'For the items alone.' }),
        max: usd.meta({ description: 'Including everything that may be delivered with it and charged.' }),
      })
      .nullable()
      .meta({ description: 'What 30 average days cost.' }),
    basis: z.enum(['counts', 'history', 'trial', 'bound', 'unknown']).meta({
      description:
        "`history`: matches of an account's rule with this query. `counts`: the platform's own counts. `bound`: stored items only, or what already matched in the last 24 hours if the rest shows less. `trial`: matches of a trial with this query.",
    }),
    bound: z.enum(['at_least', 'at_most']).nullable().meta({
      description: 'Whether the numbers are an upper or a lower bound; null if they are not a bound.',
    }),
    basis_note: z.string().meta({ description: 'What the numbers are based on and leave out, for people.' }),
    fee_usd: usd.meta({ description: 'What this estimate itself cost.' }),
  })
  .meta({ description: 'How much the rule would match and cost.' });

export type Estimate = z.output<typeof estimateSchema>;
