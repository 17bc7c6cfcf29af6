import type { Earshot, Rule } from '@earshot/sdk';
import { apiCommand } from '../api-command.ts';
import type { CommandGroup } from '../command.ts';
import { budget, cursor, flag, integer, required, ruleId, text, time, trial } from '../options.ts';
import { createdText, rulesTable, ruleText } from '../output/rule-text.ts';
import { relevanceOfRule } from './relevance.ts';
import {
  acceptSuspicious,
  alerts,
  firehoseOptions,
  hasJudgeOptions,
  judgeOptions,
  readAlerts,
  readOptions,
  readOverrides,
  readRelevance,
  ruleValues,
} from './rule-values.ts';
import { updateRule } from './rules-update.ts';
import { validateRule } from './rules-validate.ts';

const create = apiCommand({
  name: 'create',
  summary: 'create a rule on one platform or several',
  details: 'Waits until all its platforms have it. If that fails, nothing is created.',
  options: {
    name: required(text('<name>', 'name of the rule, for people')),
    intent: text('<text>', 'what it is for (default: the name)'),
    ...ruleValues,
    ...firehoseOptions,
    'accept-suspicious': acceptSuspicious,
    expires: time('when it is paused automatically', 'future'),
    budget: budget('budget of the rule'),
    trial: trial('instead of --expires and --budget: measure how much it matches in a short time'),
    'accept-estimate': flag('start it although its estimated cost is above a budget'),
    ...judgeOptions,
    alerts,
  },
  examples: [
    `earshot rules create --name Rockets --x '(rocket OR liftoff) -is:retweet'`,
    `earshot rules create --name Outages --x outage --firehose 'title:outage' --expires 30d`,
    `earshot rules create --name Rust --x rust --budget usd=5/day`,
    `earshot rules create --name Rust --intent "Releases of the language Rust, not rust on metal" --x rust --judge on`,
    `earshot rules create --name Outages --x outage --alerts medium`,
    `earshot rules create --name Try --firehose 'title:outage' --trial 30m,matches=50`,
  ],
  doing: 'Registering the rule',
  isSlow: true,
  call: (earshot, { options }) =>
    earshot.createRule({
      name: options.name,
      intent: options.intent ?? options.name,
      ...readOverrides(options),
      ...readOptions(options),
      ...(options['accept-suspicious'] && { accept_suspicious: true }),
      ...(options.expires !== undefined && { expires_at: options.expires }),
      ...(options.budget && { budget: options.budget }),
      ...(options.trial && { trial: options.trial }),
      ...(options['accept-estimate'] && { accept_estimate: true }),
      ...readAlerts(options),
      ...(hasJudgeOptions(options) && { relevance: readRelevance(options, null) }),
    }),
  show: (answer, screen, { options }) => createdText(answer, options, screen),
});

const list = apiCommand({
  name: 'list',
  summary: 'list all rules, newest first',
  options: { limit: integer('<n>', 'rules per page (default: all)', { min: 1, max: 1_000 }), cursor },
  examples: ['earshot rules list', `earshot rules list --json | jq -r '.rules[].id'`],
  doing: 'Listing rules',
  call: (earshot, { options }) => earshot.listRules(options),
  show: rulesTable,
});

/** A command on one rule that shows the resulting rule. */
const onRule = (
  definition: Pick<Parameters<typeof apiCommand>[0], 'name' | 'summary' | 'doing' | 'isSlow'> & {
    readonly call: (earshot: Earshot, request: { rule_id: string }) => Promise<Rule>;
  },
) =>
  apiCommand({
    ...definition,
    args: { rule: ruleId },
    examples: [`earshot rules ${definition.name} rule_01kb2m9x4c7q5t8w3y6z1v0n2p`],
    call: (earshot, { args }) => definition.call(earshot, { rule_id: args.rule }),
    show: ruleText,
  });

const get = onRule({
  name: 'get',
  summary: 'show a rule, its registered queries, and its state',
  doing: 'Getting the rule',
  call: (earshot, request) => earshot.getRule(request),
});

const pause = onRule({
  name: 'pause',
  summary: 'remove a rule from its platforms, and keep the rule and its matches',
  doing: 'Pausing the rule',
  call: (earshot, request) => earshot.pauseRule(request),
});

const resume = apiCommand({
  name: 'resume',
  summary: 'register a paused rule again',
  args: { rule: ruleId },
  options: { 'accept-estimate': flag('start it although its estimated cost is above a budget') },
  examples: ['earshot rules resume rule_01kb2m9x4c7q5t8w3y6z1v0n2p'],
  doing: 'Registering the rule',
  isSlow: true,
  call: (earshot, { args, options }) =>
    earshot.resumeRule({
      rule_id: args.rule,
      ...(options['accept-estimate'] && { accept_estimate: true }),
    }),
  show: ruleText,
});

const remove = apiCommand({
  name: 'delete',
  summary: 'delete a rule; its matches are no longer listed',
  args: { rule: ruleId },
  examples: [
    'earshot rules delete rule_01kb2m9x4c7q5t8w3y6z1v0n2p',
    'earshot rules delete rule_01kb2m9x4c7q5t8w3y6z1v0n2p --yes',
  ],
  doing: 'Deleting the rule',
  confirm: ({ args }) => `Delete ${args.rule}? Its matches can no longer be listed.`,
  call: (earshot, { args }) => earshot.deleteRule({ rule_id: args.rule }),
  show: ({ rule_id }) => `${rule_id} is deleted.`,
});

export const rules: CommandGroup = {
  name: 'rules',
  summary: 'create, change and delete rules',
  commands: [create, list, get, updateRule, pause, resume, remove, validateRule, relevanceOfRule],
};
