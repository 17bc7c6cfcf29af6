import { type Platform, allPlatforms as platforms } from '@earshot/contract/platforms';
import type { Answers } from '@earshot/sdk';
import { apiCommand } from '../api-command.ts';
import { exitCodes } from '../failure.ts';
import { text } from '../options.ts';
import { intentHints, renderFinding } from '../output/findings.ts';
import { printable } from '../output/printable.ts';
import type { Screen } from '../output/screen.ts';
import { readOverrides, ruleValues } from './rule-values.ts';

type Found = NonNullable<Answers['ValidateRule']['platforms'][Platform]>;

function headOf(
  platform: Platform,
  { valid, translated_value: value }: Found,
  paint: Screen['paint'],
): string {
  if (value === null) return `${paint('red', 'invalid')} on ${platform}`;
  return valid
    ? `${paint('green', 'valid')} on ${platform}, registered as: ${printable(value)}`
    : `${paint('yellow', 'suspicious')} on ${platform}, with --accept-suspicious registered as: ${printable(value)}`;
}

export const validateRule = apiCommand({
  name: 'validate',
  summary: 'check queries without creating a rule',
  details: 'Shows mistakes and hints with their position and a corrected query.',
  options: { ...ruleValues, intent: text('<text>', 'also check the intent: hints only') },
  examples: [
    `earshot rules validate --x 'rust OR cargo -is:retweet'`,
    `earshot rules validate --firehose 'title:rocket AND'`,
  ],
  doing: 'Checking the rule',
  call: (earshot, { options: { intent, ...queries } }) =>
    earshot.validateRule({ ...readOverrides(queries), intent }),
  show: (answer, { columns, paint }, { options }) =>
    [
      ...platforms.flatMap((platform) => {
        const found = answer.platforms[platform];
        if (found === undefined) return [];
        const head = headOf(platform, found, paint);
        const typed = { option: `--${platform}`, value: options[platform], columns };
        return [head, ...found.diagnostics.map((one) => renderFinding(one, typed))];
      }),
      ...intentHints(answer.intent_hints ?? []),
    ].join('\n'),
  exitCode: ({ platforms: answered }) =>
    Object.values(answered).every((one) => one?.valid !== false)
      ? exitCodes.done.code
      : exitCodes.invalid.code,
});
