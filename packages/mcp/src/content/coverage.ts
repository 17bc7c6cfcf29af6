import type { Answers } from '@earshot/sdk';

type Coverage = NonNullable<Answers['ListMatches']['coverage']>;

/** Coverage has no untrusted content, so only its length is limited. Unrepaired gaps come first, then the latest. */
export function writeCoverage(
  { complete_through: completeThrough, gaps }: Coverage,
  gapsMax: number,
): string[] {
  const kept = gaps
    .toSorted((a, b) => Number(a.repaired) - Number(b.repaired) || b.from.localeCompare(a.from))
    .slice(0, gapsMax);
  const open = gaps.filter(({ repaired }) => !repaired).length;
  const count = `${gaps.length} ${gaps.length === 1 ? 'gap' : 'gaps'}, ${open} not repaired`;
  const leftOut = gaps.length - kept.length;
  return [
    `Coverage: complete through ${completeThrough ?? 'never: nothing was covered yet'}; ${gaps.length === 0 ? 'no gaps' : count}${leftOut === 0 ? '' : `, ${leftOut} not shown (get_coverage)`}`,
    ...kept.map(
      ({ platform, from, to, reason, repaired }) =>
        `gap on ${platform}: ${from} to ${to ?? 'now'}, ${reason}, ${repaired ? 'repaired' : 'not repaired'}`,
    ),
  ];
}
