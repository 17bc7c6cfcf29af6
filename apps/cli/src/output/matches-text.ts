import type { Answers } from '@earshot/sdk';
import { matchLine } from './match-line.ts';
import type { Screen } from './screen.ts';
import { shortTime } from './times.ts';

type Coverage = Answers['ListMatches']['coverage'];

export function matchesText(
  { matches, coverage }: Pick<Answers['ListMatches'], 'matches' | 'coverage'>,
  screen: Screen,
): string {
  const lines = matches.map((match) => matchLine(match, screen));
  return [
    ...(lines.length === 0 ? ['There are no such matches.'] : lines),
    ...coverageLines(coverage, screen),
  ].join('\n');
}

/** Shows whether the list is complete. */
function coverageLines(coverage: Coverage, { paint }: Screen): string[] {
  if (coverage === null) return [];
  const { complete_through, gaps } = coverage;
  const open = gaps.filter(({ repaired }) => !repaired);
  const head =
    complete_through === null
      ? 'Earshot has not received anything yet.'
      : `Complete up to ${shortTime(complete_through)}`;
  const missing = open.map(
    ({ platform, from, to, reason }) =>
      `gap on ${platform}: ${shortTime(from)} to ${to === null ? 'now' : shortTime(to)} (${reason})`,
  );
  return ['', ...[head, ...missing].map((line) => paint('dim', line))];
}
