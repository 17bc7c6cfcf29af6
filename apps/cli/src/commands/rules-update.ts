import { onEachPlatform, type Platform, platforms } from '@earshot/contract/platforms';
import type { Earshot } from '@earshot/sdk';
import { apiCommand } from '../api-command.ts';
import { usageFailure } from '../failure.ts';
import { budgetOrNone, flag, oneOf, ruleId, text, time } from '../options.ts';
import { ruleText } from '../output/rule-text.ts';
import { onPlatforms } from '../platforms.ts';
import { acceptSuspicious, firehoseOptions, readOptions, ruleValues } from './rule-values.ts';

export const updateRule = apiCommand({
  name: 'update',
  summary: 'change a rule without a gap',
  details:
    'Only what is named changes: a rule for one platform leaves the other platform as it is. When a platform refuses the new value, everything stays as it was.',
  options: {
    name: text('<name>', 'new name'),
    intent: text('<text>', 'new intent'),
    ...ruleValues,
    ...firehoseOptions,
    'accept-suspicious': acceptSuspicious,
    drop: oneOf(platforms, 'leave this platform'),
    expires: time('when it is paused automatically', 'future'),
    'never-expires': flag('it no longer expires'),
    budget: budgetOrNone('what it may spend; one that was paused for its budget resumes'),
    'accept-estimate': flag('change it although it will probably cost more than its budget'),
  },
  args: { rule: ruleId },
  examples: [
    `earshot rules update rule_01kb2m9x4c7q5t8w3y6z1v0n2p --x '(rocket OR launch) lang:en'`,
    'earshot rules update rule_01kb2m9x4c7q5t8w3y6z1v0n2p --name "Launches" --drop firehose',
  ],
  doing: 'Registering the change',
  isSlow: true,
  ask: async (earshot, { options, args }) => {
    const {
      name,
      intent,
      drop,
      expires,
      'never-expires': neverExpires,
      budget,
      'accept-suspicious': acceptsSuspicious,
      'accept-estimate': acceptsEstimate,
      'firehose-quality': _quality,
      'firehose-nsfw': _nsfw,
      ...values
    } = options;
    if (expires !== undefined && neverExpires)
      throw usageFailure('Say --expires or --never-expires, not both.');
    const isNewValue = [...Object.values(values), drop].some((one) => one !== undefined);
    const changes = {
      ...(name !== undefined && { name }),
      ...(intent !== undefined && { intent }),
      ...(expires !== undefined && { expires_at: expires }),
      ...(neverExpires && { expires_at: null }),
      ...(budget !== undefined && { budget }),
      ...readOptions(options),
      ...(isNewValue && (await newValues(earshot, args.rule, { values, drop }))),
    };
    if (Object.keys(changes).length === 0)
      throw usageFailure('Specify what to change: --name, --x, --expires, …');
    return earshot.updateRule({
      rule_id: args.rule,
      ...changes,
      ...(acceptsSuspicious && { accept_suspicious: true }),
      ...(acceptsEstimate && { accept_estimate: true }),
    });
  },
  show: ruleText,
});

interface Wanted {
  readonly values: Readonly<Record<Platform, string | undefined>>;
  readonly drop: Platform | undefined;
}

/** A platform is left by naming all the others; with a new value for one of them, with the values of all. */
async function newValues(earshot: Earshot, ruleId: string, { values, drop }: Wanted) {
  if (drop === undefined) return { overrides: onPlatforms(values).overrides };
  const rule = await earshot.getRule({ rule_id: ruleId });
  const others = platforms.filter((platform) => platform !== drop && rule.platforms[platform] !== undefined);
  if (others.length > 0 && Object.values(values).every((value) => value === undefined))
    return { platforms: others };
  const request = onPlatforms(
    onEachPlatform((platform) =>
      platform === drop ? undefined : (values[platform] ?? rule.platforms[platform]?.value),
    ),
  );
  if (request.platforms.length === 0)
    throw usageFailure('A rule needs a platform: delete the rule in place of its last one.');
  return request;
}
