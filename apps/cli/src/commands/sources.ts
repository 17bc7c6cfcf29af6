import type { Answers } from '@earshot/sdk';
import { apiCommand } from '../api-command.ts';
import type { Screen } from '../output/screen.ts';
import { renderTable } from '../output/table.ts';
import { shortTime } from '../output/times.ts';

export const sources = apiCommand({
  name: 'sources',
  summary: 'show the connections to the platforms, and what to do about problems',
  examples: ['earshot sources'],
  doing: 'Listing sources',
  call: (earshot) => earshot.listSources(),
  show: sourcesText,
});

function sourcesText(answer: Answers['ListSources'], screen: Screen): string {
  const rows = answer.sources.map(({ platform, name, state, since, received_until }) => [
    platform,
    name,
    state,
    shortTime(since),
    received_until === null ? 'never' : shortTime(received_until),
  ]);
  if (rows.length === 0) return 'There are no sources, because the operator has not set a platform token.';
  const table = renderTable(['PLATFORM', 'NAME', 'STATE', 'SINCE', 'RECEIVED UNTIL'], rows, screen);
  const notes = answer.sources
    .filter(({ message }) => message !== undefined)
    .map(({ platform, name, message, what_to_do }) => `${platform} ${name}: ${message}\n  ${what_to_do}`);
  return [table, ...notes].join('\n\n');
}
