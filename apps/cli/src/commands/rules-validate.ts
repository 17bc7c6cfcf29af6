import { platforms } from '@earshot/contract/platforms';
import { apiCommand } from '../api-command.ts';
import { exitCodes } from '../failure.ts';
import { renderFinding } from '../output/findings.ts';
import { printable } from '../output/printable.ts';
import { readOverrides, ruleValues } from './rule-values.ts';

export const validateRule = apiCommand({
  name: 'validate',
  summary: 'check a rule without creating it',
  details:
    'Mistakes, doubts and hints, each with its place and a value to paste. Ends with 5 when the rule is invalid.',
  options: ruleValues,
  examples: [
    `earshot rules validate --x 'rust OR cargo -is:retweet'`,
    `earshot rules validate --firehose 'title:rocket AND'`,
  ],
  doing: 'Checking the rule',
  ask: (earshot, { options }) => earshot.validateRule(readOverrides(options)),
  show: (answer, { columns, paint }, { options }) =>
    platforms
      .flatMap((platform) => {
        const found = answer.platforms[platform];
        if (found === undefined) return [];
        const head = found.valid
          ? `${paint('green', 'valid')} on ${platform}, registered as: ${printable(found.translated_value ?? '')}`
          : `${paint('red', 'invalid')} on ${platform}`;
        const typed = { option: `--${platform}`, value: options[platform], columns };
        return [head, ...found.diagnostics.map((one) => renderFinding(one, typed))];
      })
      .join('\n'),
  exitCode: ({ platforms: answered }) =>
    Object.values(answered).every((one) => one?.valid !== false)
      ? exitCodes.done.code
      : exitCodes.invalid.code,
});
