import { requestObject } from '@earshot/contract';
import type { Answers } from '@earshot/sdk';
import { z } from 'zod';
import { platform } from '../per-platform.ts';
import { ruleId } from '../rule-fields.ts';
import { readTimes, time } from '../times.ts';
import { defineTool, readsOnly } from '../tool.ts';

type Interval = Answers['GetCoverage']['intervals'][number];

/** A source that disconnects all day has hundreds of intervals. Use "from" and "to" to see the others. */
const intervalsMax = 30;

export const getCoverage = defineTool({
  name: 'get_coverage',
  title: 'Coverage and gaps',
  description:
    'Whether silence means that nothing happened: when each platform was received (live), was not (gap), was filled later (repaired), or was not watched.',
  annotations: readsOnly,
  operation: 'GetCoverage',
  input: requestObject({
    rule_id: ruleId.optional(),
    platform: platform.optional(),
    from: time.optional(),
    to: z.string().optional(),
  }),
  output: z.object({
    from: z.string(),
    to: z.string(),
    complete_through: z
      .string()
      .nullable()
      .meta({ description: 'Complete up to here, except gaps; null: nothing' }),
    gaps: z.int().meta({ description: 'Not repaired' }),
    left_out: z.record(z.string(), z.int()).meta({ description: 'Not shown, by state' }),
    intervals: z.array(z.looseObject({ platform: z.string(), state: z.string() })),
  }),
  async run(args, { earshot, signal }) {
    const { intervals, ...answer } = await earshot.getCoverage(readTimes(args, ['from', 'to'], 'past'), {
      signal,
    });
    const kept = new Set(intervals.toSorted(byImportance).slice(0, intervalsMax));
    const leftOut: Record<string, number> = {};
    for (const interval of intervals) {
      if (!kept.has(interval)) leftOut[interval.state] = (leftOut[interval.state] ?? 0) + 1;
    }
    return {
      structured: {
        ...answer,
        gaps: intervals.filter(({ state }) => state === 'gap').length,
        left_out: leftOut,
        intervals: intervals.filter((interval) => kept.has(interval)),
      },
    };
  },
});

/** The states that may hide matches come first. */
const ranks: Readonly<Record<Interval['state'], number>> = {
  gap: 0,
  starting: 1,
  not_watched: 2,
  repaired: 3,
  live: 4,
};

/** Sorts gaps by length, because long gaps may hide the most, and the others by age, newest first. */
function byImportance(a: Interval, b: Interval): number {
  const rank = ranks[a.state] - ranks[b.state];
  if (rank !== 0) return rank;
  return a.state === 'gap' ? lengthOf(b) - lengthOf(a) : b.from.localeCompare(a.from);
}

function lengthOf({ from, to }: Interval): number {
  return to === null ? Number.MAX_SAFE_INTEGER : Date.parse(to) - Date.parse(from);
}
