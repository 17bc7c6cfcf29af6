import type { Earshot, Requests, Rule } from '@earshot/sdk';
import { apiCommand } from '../api-command.ts';
import { usageFailure } from '../failure.ts';
import { flag, oneOf, required, text, time } from '../options.ts';
import { ruleText } from '../output/rule-text.ts';
import { onPlatforms, platforms } from '../platforms.ts';
import { ruleValues } from './rule-values.ts';

export const updateRule = apiCommand({
  name: 'update',
  summary: 'change a rule without a gap',
  details:
    'Only what is named changes: a rule for one platform leaves the other platform as it is. When a platform refuses the\nnew value, everything stays as it was.',
  options: {
    name: text('<name>', 'new name'),
    intent: text('<text>', 'new intent'),
    ...ruleValues,
    drop: oneOf(platforms, 'leave this platform'),
    expires: time('when it pauses by itself', 'future'),
    'never-expires': flag('it no longer pauses by itself'),
  },
  args: { rule: required(text('<rule id>', 'as `earshot rules list` shows it')) },
  examples: [
    `earshot rules update rule_01kb2m9x4c7q5t8w3y6z1v0n2p --x '(rocket OR launch) lang:en'`,
    'earshot rules update rule_01kb2m9x4c7q5t8w3y6z1v0n2p --name "Launches" --drop firehose',
  ],
  doing: 'Registering the change',
  isSlow: true,
  ask: async (earshot, { options, args }) => {
    const { name, intent, x, firehose, drop, expires, 'never-expires': neverExpires } = options;
    if (expires !== undefined && neverExpires)
      throw usageFailure('Say --expires or --never-expires, not both.');
    const isNewValue = x !== undefined || firehose !== undefined || drop !== undefined;
    const changes = {
      ...(name !== undefined && { name }),
      ...(intent !== undefined && { intent }),
      ...(expires !== undefined && { expires_at: expires }),
      ...(neverExpires && { expires_at: null }),
      ...(isNewValue && (await newValues(earshot, args.rule, { x, firehose, drop }))),
    };
    if (Object.keys(changes).length === 0)
      throw usageFailure('Say what shall change: --name, --x, --expires, …');
    return earshot.updateRule({ rule_id: args.rule, ...changes });
  },
  show: ruleText,
});

interface Wanted {
  readonly x: string | undefined;
  readonly firehose: string | undefined;
  readonly drop: (typeof platforms)[number] | undefined;
}

/** The API takes all values at once. What is not named stays as it is registered. */
async function newValues(
  earshot: Earshot,
  ruleId: string,
  wanted: Wanted,
): Promise<Pick<Requests['CreateRule'], 'platforms' | 'overrides'>> {
  const rule: Rule = await earshot.getRule({ rule_id: ruleId });
  const overrides: Requests['CreateRule']['overrides'] = {};
  for (const platform of platforms) {
    const value = wanted[platform] ?? rule.platforms[platform]?.translated_value;
    if (value !== undefined && platform !== wanted.drop) overrides[platform] = value;
  }
  const values = onPlatforms(overrides);
  if (values.platforms.length === 0)
    throw usageFailure('A rule needs a platform: delete the rule in place of its last one.');
  return values;
}
