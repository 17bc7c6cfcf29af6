import { requestObject } from '@earshot/contract';
import { z } from 'zod';
import { platform } from '../per-platform.ts';
import { ruleId } from '../rule-fields.ts';
import { defineTool, readsOnly } from '../tool.ts';

/** The newest. A source that breaks all day long has hundreds; "from" and "to" show the others. */
const intervalsMax = 30;

export const getCoverage = defineTool({
  name: 'get_coverage',
  title: 'When was it heard',
  description:
    'Whether silence means that nothing happened: when each platform was heard (live), was not (gap), was made good (repaired), or was not meant to be.',
  annotations: readsOnly,
  input: requestObject({
    rule_id: ruleId.optional(),
    platform: platform.optional(),
    from: z.string().optional().meta({ description: 'RFC 3339; default: a day before "to"' }),
    to: z.string().optional().meta({ description: 'Default: now' }),
  }),
  output: z.object({
    from: z.string(),
    to: z.string(),
    complete_through: z
      .string()
      .nullable()
      .meta({ description: 'All up to here, but for gaps; null: nothing' }),
    gaps: z.int().meta({ description: 'Not repaired' }),
    left_out: z.int().meta({ description: 'Older, not shown' }),
    intervals: z.array(
      z.object({
        platform: z.string(),
        state: z.string(),
        from: z.string(),
        to: z.string().nullable(),
        reason: z.string().nullable(),
        repair: z.looseObject({}).nullable(),
      }),
    ),
  }),
  async run(args, { earshot, signal }) {
    const { intervals, ...answer } = await earshot.getCoverage(args, { signal });
    const newest = intervals.toSorted((a, b) => (a.from < b.from ? 1 : -1)).slice(0, intervalsMax);
    return {
      structured: {
        ...answer,
        gaps: intervals.filter(({ state }) => state === 'gap').length,
        left_out: intervals.length - newest.length,
        intervals: intervals.filter((interval) => newest.includes(interval)),
      },
    };
  },
});
