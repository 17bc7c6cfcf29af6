import type { MatchDay, PositionRange } from '../readers/match-days.sql.ts';

/** Positions of one day's partition; `low` is included, `high` is not. */
export interface SampleRange {
  readonly day: string;
  readonly low: number;
  readonly high: number;
}

export interface SamplePlan {
  /** In random order, so that any first part is a sample as well. */
  readonly ranges: readonly SampleRange[];
  /** The approximate fraction of the matches that the ranges contain; 1: all. */
  readonly fraction: number;
}

/** The matches of one item have adjacent positions. A range of this size seldom cuts an item in two. */
const rowsPerRange = 25;

/**
 * Chooses what to evaluate when an account has more matches than can be evaluated. The positions of each day are cut into parts of
 * about equally many matches, and each part has one range at a random place. So every match is equally likely to be evaluated, the
 * whole period is represented, and only index entries of the account itself are read.
 */
export function planSample(
  { days, after, through }: PositionRange & { readonly days: readonly MatchDay[] },
  { rowsMax, random }: { readonly rowsMax: number; readonly random: () => number },
): SamplePlan {
  const clipped = days.map((day) => clip(day, { after, through })).filter(({ rows }) => rows > 0);
  const total = clipped.reduce((sum, { rows }) => sum + rows, 0);
  const fraction = Math.min(1, rowsMax / Math.max(1, total));
  const ranges = clipped.flatMap((day) => {
    const parts = Math.max(1, Math.round((day.rows * fraction) / rowsPerRange));
    const edge = (part: number) => day.low + (part * (day.end - day.low)) / parts;
    return Array.from({ length: parts }, (_, part): SampleRange => {
      const [begin, end] = [edge(part), edge(part + 1)];
      const spare = (end - begin) * (1 - fraction);
      const shift = random() * spare;
      // Both ends are rounded the same way: the number of positions is right on average, and whole parts leave no gap.
      return { day: day.day, low: Math.floor(begin + shift), high: Math.floor(end - spare + shift) };
    });
  });
  return { ranges: shuffled(ranges, random), fraction };
}

/** The matches of a day between the positions, if they are spread evenly. */
function clip({ day, first, last, matches }: MatchDay, { after, through }: PositionRange) {
  const low = Math.max(first, after + 1);
  const end = Math.min(last, through) + 1;
  const rows = end <= low ? 0 : Math.max(1, (matches * (end - low)) / (last + 1 - first));
  return { day, low, end, rows };
}

export function shuffled<Value>(values: readonly Value[], random: () => number): Value[] {
  return values
    .map((value) => ({ value, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value);
}
