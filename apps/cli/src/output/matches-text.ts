import type { Answers, Match } from '@earshot/sdk';
import { matchLine } from './match-line.ts';
import type { Screen } from './screen.ts';
import { shortTime } from './times.ts';

type Coverage = Answers['ListMatches']['coverage'];

export function matchesText(
  { matches, coverage, hidden }: Pick<Answers['ListMatches'], 'matches' | 'coverage' | 'hidden'>,
  screen: Screen,
): string {
  const lines = matches.flatMap((match) => [
    matchLine(match, screen),
    ...(match.story ? [screen.paint('dim', storyLine(match.story))] : []),
  ]);
  return [
    ...(lines.length === 0 ? ['There are no such matches.'] : lines),
    ...(hidden ? [screen.paint('dim', hiddenLine(hidden))] : []),
    ...coverageLines(coverage, screen),
  ].join('\n');
}

function hiddenLine({
  muted,
  not_relevant,
  in_story = 0,
}: NonNullable<Answers['ListMatches']['hidden']>): string {
  const parts = [
    muted > 0 && `${muted} muted`,
    not_relevant > 0 && `${not_relevant} not relevant`,
    in_story > 0 && `${in_story} in these stories`,
  ];
  const how = in_story > 0 ? '--story ID' : '--hidden only';
  return `Hidden: ${parts.filter(Boolean).join(', ')}. \`earshot matches list ${how}\` lists them.`;
}

function storyLine({ id, matches, platforms, because }: NonNullable<Match['story']>): string {
  const counts = Object.entries(platforms).map(([platform, count]) => `${platform} ${count}`);
  const size = matches === 1 ? '1 match' : `${matches} matches: ${counts.join(', ')}`;
  return `  ${id}  ${size}  (${because.replace('_', ' ')})`;
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
