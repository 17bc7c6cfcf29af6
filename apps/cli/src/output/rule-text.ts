import { formatBudget } from '@earshot/contract/budgets';
import { type Platform, allPlatforms as platforms } from '@earshot/contract/platforms';
import { checkIntent } from '@earshot/query';
import type { Answers, Rule } from '@earshot/sdk';
import { intentHints, renderFinding } from './findings.ts';
import { printable } from './printable.ts';
import type { Screen } from './screen.ts';
import { renderFields, renderTable, withMore } from './table.ts';
import { shortTime } from './times.ts';

type Listening = NonNullable<Rule['platforms'][Platform]>['listening'];

export function rulesTable({ rules, next_cursor }: Answers['ListRules'], screen: Screen): string {
  if (rules.length === 0)
    return "There are no rules. Create one: earshot rules create --name Rockets --x 'rocket'";
  const rows = rules.map((rule) => [
    rule.id,
    rule.state,
    listeningText(rule),
    Object.keys(rule.platforms).join(','),
    String(Object.values(rule.platforms).reduce((sum, one) => sum + (one?.match_count ?? 0), 0)),
    shortTime(lastMatch(rule)),
    rule.name,
  ]);
  const table = renderTable(
    ['ID', 'STATE', 'LISTENING', 'PLATFORMS', 'MATCHES', 'LAST MATCH', 'NAME'],
    rows,
    screen,
  );
  return withMore(table, next_cursor, 'earshot rules list');
}

/** One word for all platforms, or the platforms that are down, with reasons. */
function listeningText({ state, platforms: watched }: Rule): string {
  if (state === 'paused') return '';
  const all = Object.entries(watched).flatMap(([name, one]) => (one ? [{ name, ...one.listening }] : []));
  const down = all.filter((one) => one.state === 'down');
  if (down.length > 0) return `down on ${down.map(({ name, reason }) => `${name} (${reason})`).join(', ')}`;
  return all.some((one) => one.state === 'starting') ? 'starting' : 'live';
}

function lastMatch({ platforms: watched }: Rule): string | null {
  const times = Object.values(watched).flatMap((one) => one?.last_match_at ?? []);
  return times.toSorted().at(-1) ?? null;
}

export function ruleText(rule: Rule, screen: Screen): string {
  const fields = renderFields(
    [
      ['id', rule.id],
      ['name', rule.name],
      ['intent', rule.intent === rule.name ? null : rule.intent],
      ['state', rule.state],
      ['version', String(rule.version)],
      ['created', shortTime(rule.created_at)],
      ['updated', shortTime(rule.updated_at)],
      ['expires', rule.expires_at && shortTime(rule.expires_at)],
      ['budget', rule.effective_budget && budgetText(rule, rule.effective_budget)],
      ['paused', rule.pause && pauseText(rule.pause)],
      ['alerts', rule.alerts],
      ['judge', rule.relevance && judgeText(rule.relevance)],
      ['criteria', rule.relevance && rule.relevance.criteria.join('; ')],
    ],
    screen,
  );
  return [fields, ...platforms.flatMap((platform) => platformText(rule, platform, screen))].join('\n\n');
}

function budgetText(rule: Rule, budget: NonNullable<Rule['effective_budget']>): string {
  const whose = rule.budget === null ? ' (default of the operator)' : '';
  const resets = budget.resets_at === null ? '' : `, next period ${shortTime(budget.resets_at)}`;
  // A rate is no whole number of matches.
  const reserved = budget.usd === undefined ? Math.ceil(budget.reserved) : budget.reserved;
  const still = reserved > 0 ? ` (${reserved} may still arrive)` : '';
  return `${formatBudget(budget)}${whose}, spent ${budget.spent}, left ${budget.remaining}${still}${resets}`;
}

function pauseText({ reason, resumes_at }: NonNullable<Rule['pause']>): string {
  return resumes_at === null ? reason : `${reason}, until ${shortTime(resumes_at)}`;
}

function judgeText({ judge, accept_unproven, usd_per_day }: NonNullable<Rule['relevance']>): string {
  const budget = usd_per_day === null ? '' : `, up to $${usd_per_day} per day`;
  return judge ? `on${accept_unproven ? ', unproven accepted' : ''}${budget}` : 'off';
}

function sinceText({ state, reason, since }: Listening): string {
  const words = [state, reason].filter(Boolean).join(': ');
  if (since === null) return words;
  return `${words}, ${state === 'starting' ? 'expected' : 'since'} ${shortTime(since)}`;
}

function optionsText(options: Readonly<Record<string, boolean>>): string {
  return Object.entries(options)
    .map(([name, isOn]) => `${name} ${isOn ? 'on' : 'off'}`)
    .join(', ');
}

function platformText(rule: Rule, platform: Platform, screen: Screen): string[] {
  const watched = rule.platforms[platform];
  if (watched === undefined) return [];
  const { status, listening, translated_value, options, last_match_at, match_count } = watched;
  const fields = renderFields(
    [
      ['status', status],
      ['listening', sinceText(listening)],
      ['registered', translated_value],
      ['options', options ? optionsText(options) : null],
      ['matches', match_count === 0 ? '0' : `${match_count}, last ${shortTime(last_match_at)}`],
    ],
    screen,
  );
  return [`${screen.paint('bold', platform)}\n${fields}`];
}

/** Shows what was registered, its findings, and the next commands. */
export function createdText(
  answer: Answers['CreateRule'],
  typed: Readonly<Record<Platform, string | undefined>>,
  { columns, paint }: Screen,
): string {
  const { rule_id } = answer;
  const watched = platforms.flatMap((platform) => {
    const registered = answer.platforms[platform];
    if (registered === undefined) return [];
    const { status, translated_value, warnings } = registered;
    const value = { option: `--${platform}`, value: typed[platform], columns };
    return [
      `${paint('bold', platform)}  ${status}  ${printable(translated_value)}`,
      ...warnings.map((warning) => renderFinding(warning, value)),
    ];
  });
  return [
    `${rule_id} is created.`,
    ...watched,
    ...(answer.relevance?.judge ? intentHints(checkIntent(answer.intent)) : []),
    `Show its matches: earshot matches tail --rule ${rule_id}`,
  ].join('\n');
}
