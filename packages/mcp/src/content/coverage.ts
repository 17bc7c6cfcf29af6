import type { Answers } from '@earshot/sdk';

type Coverage = NonNullable<Answers['ListMatches']['coverage']>;

/** Only gaps that are not repaired, which get_coverage counts too, latest first. No untrusted content: only the length is limited. */
export function writeCoverage(
  { complete_through: completeThrough, gaps }: Coverage,
  gapsMax: number,
): string[] {
  const open = gaps.filter(({ repaired }) => !repaired).toSorted((a, b) => b.from.localeCompare(a.from));
  const kept = open.slice(0, gapsMax);
  const count = open.length === 0 ? 'no gaps' : `${open.length} ${open.length === 1 ? 'gap' : 'gaps'}`;
  const leftOut = open.length - kept.length;
  return [
    `Coverage: complete through ${completeThrough ?? 'never: nothing was covered yet'}; ${count}${leftOut === 0 ? '' : `, ${leftOut} not shown (get_coverage)`}`,
    ...kept.map(
      ({ platform, from, to, reason }) => `gap on ${platform}: ${from} to ${to ?? 'now'}, ${reason}`,
    ),
  ];
}
