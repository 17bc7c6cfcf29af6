import { onEachPlatform, type Platform, allPlatforms as platforms } from '@earshot/contract/platforms';
import type { Earshot } from '@earshot/sdk';
import { apiCommand } from '../api-command.ts';
import { usageFailure } from '../failure.ts';
import { budgetOrNone, flag, oneOf, ruleId, text, time } from '../options.ts';
import { ruleText } from '../output/rule-text.ts';
import { onPlatforms } from '../platforms.ts';
import {
  acceptSuspicious,
  alerts,
  firehoseOptions,
  hasJudgeOptions,
  judgeOptions,
  readAlerts,
  readOptions,
  readRelevance,
  ruleValues,
} from './rule-values.ts';

export const updateRule = apiCommand({
  name: 'update',
  summary: 'change a rule without a gap',
  details:
    'Changes only the given options. If a platform refuses a new query, nothing changes. With a larger budget, a rule that the old one paused resumes.',
  options: {
    name: text('<name>', 'new name'),
    intent: text('<text>', 'new intent'),
    ...ruleValues,
    ...firehoseOptions,
    'accept-suspicious': acceptSuspicious,
    drop: oneOf(platforms, 'remove the rule from this platform'),
    expires: time('when it is paused automatically', 'future'),
    'never-expires': flag('it no longer expires'),
    budget: budgetOrNone('new budget'),
    'accept-estimate': flag('start it although its estimated cost is above a budget'),
    ...judgeOptions,
    alerts,
  },
  args: { rule: ruleId },
  examples: [
    `earshot rules update rule_01kb2m9x4c7q5t8w3y6z1v0n2p --x '(rocket OR launch) lang:en'`,
    'earshot rules update rule_01kb2m9x4c7q5t8w3y6z1v0n2p --name "Launches" --drop firehose',
    'earshot rules update rule_01kb2m9x4c7q5t8w3y6z1v0n2p --judge on --criteria "It names a version; It is news"',
    'earshot rules update rule_01kb2m9x4c7q5t8w3y6z1v0n2p --alerts medium',
  ],
  doing: 'Registering the change',
  isSlow: true,
  call: async (earshot, { options, args }) => {
    const {
      name,
      intent,
      drop,
      expires,
      'never-expires': neverExpires,
      budget,
      alerts: _alerts,
      'accept-suspicious': acceptsSuspicious,
      'accept-estimate': acceptsEstimate,
      'firehose-quality': _quality,
      'firehose-nsfw': _nsfw,
      judge: _judge,
      criteria: _criteria,
      'accept-unproven': _acceptsUnproven,
      'judge-budget': _judgeBudget,
      ...values
    } = options;
    if (expires !== undefined && neverExpires)
      throw usageFailure('Specify --expires or --never-expires, not both.');
    const hasNewQueries = [...Object.values(values), drop].some((one) => one !== undefined);
    const changes = {
      ...(name !== undefined && { name }),
      ...(intent !== undefined && { intent }),
      ...(expires !== undefined && { expires_at: expires }),
      ...(neverExpires && { expires_at: null }),
      ...(budget !== undefined && { budget }),
      ...readAlerts(options),
      ...readOptions(options),
      ...(hasNewQueries && (await newQueries(earshot, args.rule, { values, drop }))),
      ...(hasJudgeOptions(options) && {
        relevance: readRelevance(options, (await earshot.getRule({ rule_id: args.rule })).relevance),
      }),
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

/** To leave a platform, a request lists all others. If one of them has a new query, it has the queries of all. */
async function newQueries(earshot: Earshot, ruleId: string, { values, drop }: Wanted) {
  if (drop === undefined) return { overrides: onPlatforms(values).overrides };
  const rule = await earshot.getRule({ rule_id: ruleId });
  const others = platforms.filter((platform) => platform !== drop && rule.platforms[platform] !== undefined);
  if (others.length > 0 && Object.values(values).every((value) => value === undefined))
    return { platforms: others };
  const request = onPlatforms(
    onEachPlatform(
      (platform) => (platform === drop ? undefined : (values[platform] ?? rule.platforms[platform]?.value)),
      platforms,
    ),
  );
  if (request.platforms.length === 0)
    throw usageFailure('A rule needs at least one platform. Delete the rule instead.');
  return request;
}
