import { requestObject } from '@earshot/contract';
import { z } from 'zod';
import { platform } from '../per-platform.ts';
import { ruleId } from '../rule-fields.ts';
import { readTimes, time } from '../times.ts';
import { defineTool, readsOnly } from '../tool.ts';

const secondsOf = { minute: 60, hour: 3_600, day: 86_400 } as const;

export const countMatches = defineTool({
  name: 'count_matches',
  title: 'Count matches',
  description: 'How many matches there were per minute, hour or day, or in total by rule or platform.',
  annotations: readsOnly,
  operation: 'CountMatches',
  argumentOf: { step: 'per' },
  input: requestObject({
    rule_id: ruleId.optional(),
    platform: platform.optional(),
    from: time.default('1d'),
    to: z.string().optional(),
    per: z.enum(['minute', 'hour', 'day']).optional(),
    by: z.enum(['rule', 'platform']).optional(),
  }),
  output: z.object({
    from: z.string(),
    to: z.string(),
    total: z.int(),
    counts: z.array(z.int()).optional(),
    totals: z
      .array(z.object({ rule_id: z.string().optional(), platform: z.string().optional(), total: z.int() }))
      .optional(),
  }),
  async run({ per, to: until, ...args }, { earshot, signal }) {
    const { from, to } = readTimes(
      { from: args.from, to: until ?? new Date().toISOString() },
      ['from', 'to'],
      'past',
    );
    const isLong = Date.parse(to) - Date.parse(from) > 2 * secondsOf.day * 1_000;
    const step = secondsOf[per ?? (isLong ? 'day' : 'hour')];
    const { series, ...answer } = await earshot.countMatches({ ...args, from, to, step }, { signal });
    const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
    const totals = series.map(({ counts, ...one }) => ({ ...one, total: sum(counts) }));
    return {
      structured: {
        ...answer,
        total: sum(totals.map(({ total }) => total)),
        ...(args.by === undefined ? { counts: series[0]?.counts ?? [] } : { totals }),
      },
    };
  },
});
