import type { Answers } from '@earshot/sdk';
import { apiCommand } from '../api-command.ts';
import { oneOf, platformFilter, ruleFilter, time } from '../options.ts';
import { usageText } from '../output/usage-text.ts';

export const usage = apiCommand({
  name: 'usage',
  summary: 'what your rules brought in, and what it costs',
  details:
    'Costs have two figures: for posts and pages alone, and with the authors and posts that came along, where it is not settled what a platform charges. An item that several of your rules matched is divided among them.',
  options: {
    rule: ruleFilter,
    platform: platformFilter,
    from: time('first day, UTC (default: 29 days before the last)', 'past'),
    to: time('last day, UTC (default: today)', 'past'),
    by: oneOf(['day', 'rule'], 'one line per day or per rule (default day)'),
  },
  examples: ['earshot usage', 'earshot usage --by rule --from 7d'],
  doing: 'Asking for the usage',
  ask: (earshot, { options: { rule, by = 'day', ...rest } }): Promise<Answers['GetUsage']> =>
    earshot.getUsage({ rule_id: rule, by, ...rest }),
  show: (answer, screen) => usageText(answer, screen),
});
