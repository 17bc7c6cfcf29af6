import type { Answers } from '@earshot/sdk';
import { apiCommand } from '../api-command.ts';
import { oneOf, platformFilter, ruleFilter, time } from '../options.ts';
import { usageText } from '../output/usage-text.ts';

export const usage = apiCommand({
  name: 'usage',
  summary: 'show how much your rules matched, and the cost',
  details:
    'The cost is a range: from posts and pages alone, to a total with the authors and posts that were delivered with them. If several of your rules matched an item, they share its cost.',
  options: {
    rule: ruleFilter,
    platform: platformFilter,
    from: time('first day, UTC (default: 29 days before the last)', 'past'),
    to: time('last day, UTC (default: today)', 'past'),
    by: oneOf(['day', 'rule'], 'one line per day or per rule (default day)'),
  },
  examples: ['earshot usage', 'earshot usage --by rule --from 7d'],
  doing: 'Getting the usage',
  call: (earshot, { options: { rule, by = 'day', ...rest } }): Promise<Answers['GetUsage']> =>
    earshot.getUsage({ rule_id: rule, by, ...rest }),
  show: (answer, screen) => usageText(answer, screen),
});
