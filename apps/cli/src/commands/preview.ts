import { allPlatforms as platforms } from '@earshot/contract/platforms';
import { apiCommand } from '../api-command.ts';
import { integer, text } from '../options.ts';
import { previewText } from '../output/preview-text.ts';
import { firehoseOptions, readOptions, readOverrides, ruleValues } from './rule-values.ts';

export const preview = apiCommand({
  name: 'preview',
  summary: 'show what a rule would match and cost before you create it',
  details:
    'Evaluates the stored items of your account, and requests counts from the platform if it has them.',
  options: {
    ...ruleValues,
    ...firehoseOptions,
    rule: text('<id>', 'compare with the current query of this rule'),
    days: integer('<n>', 'how many days of stored items to evaluate (default 7)', { min: 1, max: 3_650 }),
  },
  examples: [
    `earshot preview --x 'aurora (oslo OR bergen) -is:retweet'`,
    `earshot preview --x 'aurora lang:en' --rule rule_01kb2m9x4c7q5t8w3y6z1v0n2p`,
  ],
  doing: 'Previewing the rule',
  call: (earshot, { options: { rule, days, ...typed } }) =>
    earshot.previewRule({ ...readOverrides(typed), ...readOptions(typed), rule_id: rule, days }),
  show: (answer, screen, { options }) =>
    platforms
      .flatMap((platform) => {
        const previewed = answer.platforms[platform];
        return previewed
          ? [previewText(platform, previewed, { screen, days: options.days ?? 7, typed: options[platform] })]
          : [];
      })
      .join('\n\n'),
});
