import type { Answers } from '@earshot/sdk';

type Coverage = NonNullable<Answers['ListMatches']['coverage']>;

/** Coverage is in Earshot's own words, from closed lists; only its length needs a bound. The latest gaps stay. */
export function writeCoverage(coverage: Coverage, gapsMax: number) {
  const { complete_through: completeThrough, gaps } = coverage;
  const latest = gaps.toSorted((a, b) => b.from.localeCompare(a.from)).slice(0, gapsMax);
  const leftOut = gaps.length - latest.length;
  const count =
    leftOut === 0 ? `${gaps.length} gaps` : `${gaps.length} gaps, the latest ${latest.length} here`;
  return {
    fields: {
      complete_through: completeThrough,
      gaps: latest,
      ...(leftOut === 0 ? {} : { gaps_left_out: leftOut }),
    },
    lines: [
      `Coverage: complete through ${completeThrough ?? 'never: nothing was watched yet'}; ${count}`,
      ...latest.map(
        ({ platform, from, to, reason, repaired }) =>
          `gap on ${platform}: ${from} to ${to ?? 'now'}, ${reason}, ${repaired ? 'repaired' : 'not repaired'}`,
      ),
    ],
  };
}
