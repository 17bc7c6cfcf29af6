import type {
  AlertSensitivity,
  Budget,
  Listening,
  Platform,
  Rule,
  RuleExamples,
  RuleRelevance,
} from '@earshot/contract';
import type { RulePricing } from '../billing/prices.ts';
import { listeningSince, periodStart, recentMatches, sums } from '../billing/spending.sql.ts';
import { type CountedSpending, forecastAtEnd, micro, periodAt, spentAmounts } from '../billing/spending.ts';
import type { Sql } from '../engines/database.ts';
import { isReceiving, receivingSince, sourceState } from '../slots/receiving.sql.ts';
import { platforms as platformTraits } from '../upstream/platforms.ts';
import type { RuleOptions } from '../upstream/upstream-rules.ts';
import { type ManagedBy, managedKeyTaken } from './refusals.ts';

/**
 * Why Earshot paused a rule that it will resume automatically. With `default_budget` it will not until the rule has its own budget: the
 * operator's default budget stopped the rule in two periods.
 */
export type PauseReason = 'budget' | 'default_budget' | 'suspension';

export interface RuleRow {
  id: string;
  name: string;
  intent: string;
  state: Rule['state'];
  version: number;
  created_at: Date;
  updated_at: Date;
  expires_at: Date | null;
  budget: Budget | null;
  pause_reason: PauseReason | null;
  budget_check_at: Date | null;
  read_at: Date;
  examples: RuleExamples | null;
  relevance: RuleRelevance | null;
  alerts: AlertSensitivity | null;
  managed_set: string | null;
  managed_key: string | null;
  platforms: PlatformRow[];
}

interface PlatformRow {
  platform: Platform;
  value: string;
  translated_value: string;
  options: RuleOptions;
  platform_rule_id: string | null;
  slot_state: string | null;
  source_state: string | null;
  source_since: string | null;
  live: boolean | null;
  /** When the platform is expected to apply it; null once it does, or while it does not have it. */
  applied_from: string | null;
  served_since: string | null;
  listening_since: string | null;
  match_count: number;
  last_match_at: string | null;
  spending: Omit<CountedSpending, 'platform'> | null;
}

/** SQL: the budget that limits the rule. */
function effectiveBudget(ruleBudget: Budget | null): string {
  return ruleBudget === null
    ? 'rules.budget'
    : `coalesce(rules.budget, '${JSON.stringify(ruleBudget)}'::json)`;
}

/** SQL: the matches that count for a budget of the rule. */
const spendingOf = (
  budget: string,
) => `select json_build_object(${sums.map(({ name, sum }) => `'${name}', ${sum}`).join(', ')},
    'recent_matches', ${recentMatches('matches.rule_id = v.rule_id and matches.platform = v.platform')})
  from usage where usage.rule_id = v.rule_id and usage.platform = v.platform and day >= ${periodStart(budget)}`;

/** SQL: rules with their state on each platform. A paused rule holds no slot, even if another rule still holds its former one. */
const selectRules = ({ ruleBudget }: RulePricing, budget = effectiveBudget(ruleBudget)) => `
  select now() as read_at, rules.id, rules.name, rules.intent, rules.state, rules.version, rules.created_at, rules.updated_at,
    rules.expires_at, rules.budget, rules.pause_reason, rules.budget_check_at, rules.examples, rules.relevance, rules.alerts, rules.managed_set, rules.managed_key,
    (select json_agg(json_build_object(
        'platform', v.platform, 'value', v.value, 'translated_value', v.translated_value, 'options', v.options,
        'platform_rule_id', case when holder.served_since is not null then v.platform_rule_id end,
        'slot_state', slots.state, 'live', ${isReceiving}, 'served_since', holder.served_since,
        'source_state', ${sourceState}, 'source_since', ${receivingSince},
        'applied_from', case when holder.applied_from > now() then holder.applied_from end,
        'match_count', coalesce(counted.matches, 0), 'last_match_at', counted.last_match_at,
        'spending', case when ${budget} is not null then (${spendingOf(budget)}) end,
        'listening_since', case when ${budget} is not null then ${listeningSince('rules.id', periodStart(budget))} end
      ) order by v.platform desc)
     from rule_versions v
     left join slots on slots.id = v.slot_id and rules.state <> 'paused'
     left join slot_holders holder on holder.slot_id = slots.id and holder.rule_id = rules.id
     left join sources on sources.id = slots.source_id
     left join lateral (
       select sum(matches)::bigint as matches, max(last_match_at) as last_match_at
       from usage where usage.rule_id = v.rule_id and usage.platform = v.platform
     ) counted on true
     where v.rule_id = rules.id and v.version = rules.version) as platforms
  from rules
  where rules.state not in ('creating', 'deleted')`;

export function ruleById(pricing: RulePricing): string {
  return `${selectRules(pricing)} and rules.account_id = $1 and rules.id = $2`;
}

/** Of any account. */
export function rulesByIds(pricing: RulePricing): string {
  return `${selectRules(pricing)} and rules.id = any($1)`;
}

/** A page of an account's rules, newest first. */
export function rulePage(pricing: RulePricing): string {
  return `${selectRules(pricing)} and rules.account_id = $1
    and ($2::text is null or rules.id < $2)
  order by rules.id desc
  limit $3`;
}

export function toRule(row: RuleRow, pricing: RulePricing): Rule {
  const platforms: Rule['platforms'] = {};
  for (const one of row.platforms) {
    platforms[one.platform] = {
      platform_rule_id: one.platform_rule_id ?? '',
      value: one.value,
      translated_value: one.translated_value,
      ...(Object.keys(one.options).length > 0 && { options: one.options }),
      status: row.state === 'paused' ? 'paused' : statusOf(one),
      listening: listeningOf(row, one),
      rule_type: platformTraits[one.platform].ruleType,
      last_match_at: toTime(one.last_match_at),
      match_count: one.match_count,
    };
  }
  return {
    id: row.id,
    name: row.name,
    intent: row.intent,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    version: row.version,
    state: row.state,
    expires_at: row.expires_at?.toISOString() ?? null,
    budget: row.budget,
    effective_budget: budgetStateOf(row, pricing),
    pause: pauseOf(row),
    examples: row.examples,
    relevance: row.relevance,
    alerts: row.alerts,
    managed_by: managedByOf(row),
    platforms,
  };
}

function pauseOf({ state, pause_reason, budget_check_at, expires_at, read_at }: RuleRow): Rule['pause'] {
  if (state !== 'paused') return null;
  if (pause_reason === 'default_budget') return { reason: pause_reason, resumes_at: null };
  if (pause_reason !== null)
    return { reason: pause_reason, resumes_at: budget_check_at?.toISOString() ?? null };
  const isExpired = expires_at !== null && expires_at <= read_at;
  return { reason: isExpired ? 'expired' : 'request', resumes_at: null };
}

function budgetStateOf(
  { budget: own, state, platforms, read_at }: RuleRow,
  { prices, ruleBudget }: RulePricing,
): Rule['effective_budget'] {
  const budget = own ?? ruleBudget;
  if (budget === null) return null;
  const counted = platforms.flatMap(({ platform, spending }) =>
    spending ? [{ platform, ...spending }] : [],
  );
  const unit = budget.usd === undefined ? 'matches' : 'usd';
  const { spent, reserved } = spentAmounts(unit, counted, prices);
  const period = periodAt(budget.period, read_at);
  const listeningSince = toTime(platforms[0]?.listening_since ?? null);
  const since = listeningSince === null || state === 'paused' ? null : new Date(listeningSince);
  return {
    ...budget,
    spent,
    remaining: micro(Math.max(0, (budget[unit] ?? 0) - spent)),
    reserved,
    forecast: forecastAtEnd({ spent, period, since }, read_at),
    resets_at: period.end?.toISOString() ?? null,
  };
}

export function managedByOf(row: Pick<RuleRow, 'managed_set' | 'managed_key'>): ManagedBy {
  const { managed_set: set, managed_key: key } = row;
  return set === null || key === null ? null : { set, key };
}

function statusOf({ slot_state }: PlatformRow): 'active' | 'pending' | 'failed' {
  if (slot_state === 'failed') return 'failed';
  return slot_state === 'registered' ? 'active' : 'pending';
}

/** Whether Earshot receives the items that match the rule right now. */
function listeningOf(rule: Pick<RuleRow, 'state'>, one: PlatformRow): Listening {
  const down = (reason: string, since: string | null): Listening => ({
    state: 'down',
    reason,
    since: toTime(since),
  });
  if (rule.state === 'paused') return { state: 'paused', reason: null, since: null };
  if (one.slot_state === 'failed') return down('refused', null);
  if (one.slot_state !== 'registered') return down('not_registered', null);
  const { source_state, source_since } = one;
  if (!one.live) return down(source_state ?? 'starting', source_since);
  const appliedFrom = toTime(one.applied_from);
  if (appliedFrom !== null) return { state: 'starting', reason: null, since: appliedFrom };
  // The rule may be older than the connection, and the connection older than the rule.
  const begun = [one.served_since, source_since].flatMap((at) => toTime(at) ?? []);
  return { state: 'live', reason: null, since: begun.toSorted().at(-1) ?? null };
}

function toTime(text: string | null): string | null {
  return text === null ? null : new Date(text).toISOString();
}

/** The columns `examples`, `managed_set`, `managed_key`, `budget`, `relevance` and `alerts` of a new rule. */
export function asCodeColumns({
  examples,
  managedBy,
  budget,
  relevance,
  alerts,
}: {
  readonly examples?: RuleExamples | null;
  readonly managedBy?: ManagedBy;
  readonly budget?: Budget | null;
  readonly relevance?: RuleRelevance | null;
  readonly alerts?: AlertSensitivity | null;
}): (string | null)[] {
  return [
    examples ? JSON.stringify(examples) : null,
    managedBy?.set ?? null,
    managedBy?.key ?? null,
    budget ? JSON.stringify(budget) : null,
    relevance ? JSON.stringify(relevance) : null,
    alerts ?? null,
  ];
}

/** Runs work that assigns a set's key to a rule. If two requests do so at once, a unique index decides. */
export async function assignManagedKey<Result>(
  managedBy: ManagedBy | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (managedBy && error instanceof Error && 'constraint' in error && error.constraint === 'rules_managed')
      throw managedKeyTaken(managedBy);
    throw error;
  }
}

export function isPremium(values: ReadonlyArray<{ readonly platform: Platform }>): boolean {
  return values.some(({ platform }) => platformTraits[platform].ruleType === 'premium');
}

const premiumPlatforms = Object.entries(platformTraits)
  .filter(([, { ruleType }]) => ruleType === 'premium')
  .map(([platform]) => platform);

/**
 * The number of premium rules of the account. Paused rules count: a pause does not free a place, and a resume does not fail because
 * other rules were created in the meantime. Counted under the account's row lock, so that two concurrent requests cannot both be the
 * last one allowed. A rule that changes its query holds two slots for a while and counts once.
 */
export async function countPremiumRules(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql.prepared<{ used: number }>('select count_rules_on($1, $2) as used', [
    premiumPlatforms,
    accountId,
  ]);
  return row?.used ?? 0;
}

/** The number of premium rules if it has reached the maximum, else null. They are counted only if they may be that many. */
export async function premiumRulesReached(sql: Sql, accountId: string, max: number): Promise<number | null> {
  const [row] = await sql.prepared<{ used: number | null }>(
    'select premium_rules_reached($1, $2, $3) as used',
    [premiumPlatforms, accountId, max],
  );
  return row?.used ?? null;
}
