import { requestObject } from '@earshot/contract';
import type { Answers } from '@earshot/sdk';
import { z } from 'zod';
import { unhidden } from '../content/visible.ts';
import { usdWords } from '../estimate-words.ts';
import { ruleId } from '../rule-fields.ts';
import { readTimes, time } from '../times.ts';
import { defineTool, readsOnly } from '../tool.ts';

type Figures = Answers['GetUsage']['total'];

/** The newest days, or the most expensive rules. Request a shorter period to see the others. */
const rowsMax = 60;

const figures = { matches: z.int(), usd: z.string() };

export const getUsage = defineTool({
  name: 'get_usage',
  title: 'Usage and cost',
  description: 'Matches and their cost in dollars (minimum to maximum), of the last 30 days or from–to.',
  annotations: readsOnly,
  operation: 'GetUsage',
  input: requestObject({
    rule_id: ruleId.optional(),
    from: time.optional(),
    to: z.string().optional(),
    by: z.enum(['day', 'rule']).optional(),
  }),
  output: z.object({
    total: z.object(figures),
    left_out: z.int(),
    usage: z.array(
      z.object({
        day: z.string().optional(),
        rule_id: z.string().optional(),
        rule_name: z.string().nullable().optional(),
        platform: z.string(),
        ...figures,
      }),
    ),
  }),
  async run(args, { earshot, signal }) {
    const { usage, total } = await earshot.getUsage(readTimes(args, ['from', 'to'], 'past'), {
      signal,
    });
    const shown = args.by === 'day' ? usage.slice(-rowsMax) : usage.slice(0, rowsMax);
    return {
      structured: {
        total: toFigures(total),
        left_out: usage.length - shown.length,
        usage: shown.map((row) => ({
          ...row,
          ...toFigures(row),
          ...(row.rule_name && { rule_name: unhidden(row.rule_name) }),
        })),
      },
    };
  },
});

function toFigures({ matches, usd }: Figures) {
  return { matches, usd: usdWords(usd) };
}
