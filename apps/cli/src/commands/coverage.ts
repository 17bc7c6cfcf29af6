import type { Answers } from '@earshot/sdk';
import { apiCommand } from '../api-command.ts';
import { flag, platformFilter, ruleFilter, time } from '../options.ts';
import type { Screen } from '../output/screen.ts';
import { renderTable } from '../output/table.ts';
import { shortTime } from '../output/times.ts';

export const coverage = apiCommand({
  name: 'coverage',
  summary: 'show the periods that Earshot received, and the gaps',
  options: {
    rule: ruleFilter,
    platform: platformFilter,
    from: time('start (default: 1 day before the end)', 'past'),
    to: time('end (default: now)', 'past'),
    'planned-ends': flag('include planned interruptions that the platform replayed completely'),
  },
  examples: [
    'earshot coverage --platform x',
    'earshot coverage --rule rule_01kb2m9x4c7q5t8w3y6z1v0n2p --from 7d',
  ],
  doing: 'Getting the coverage',
  call: (earshot, { options: { rule, 'planned-ends': planned, ...rest } }) =>
    earshot.getCoverage({ rule_id: rule, ...rest, ...(planned && { planned_ends: true }) }),
  show: coverageText,
});

function coverageText(answer: Answers['GetCoverage'], screen: Screen): string {
  const { complete_through, intervals } = answer;
  const head =
    complete_through === null
      ? intervals.some(({ state }) => state === 'starting')
        ? 'Nothing was received yet: the platform takes a while to apply a new rule.'
        : 'Nothing was covered.'
      : `Complete up to ${shortTime(complete_through)}, apart from the gaps and what their repair left out.`;
  if (intervals.length === 0) return head;
  const rows = intervals.map(({ platform, state, from, to, reason, repair }) => [
    platform,
    state,
    shortTime(from),
    to === null ? 'now' : shortTime(to),
    [reason, repairText(repair)].filter(Boolean).join('; '),
  ]);
  return `${head}\n\n${renderTable(['PLATFORM', 'STATE', 'FROM', 'TO', 'REASON'], rows, screen)}`;
}

function repairText(repair: Answers['GetCoverage']['intervals'][number]['repair']): string {
  if (repair === null) return '';
  const { state, via, reason, fidelity } = repair;
  return [state, via && `by ${via}`, reason, ...fidelity].filter(Boolean).join(', ');
}
