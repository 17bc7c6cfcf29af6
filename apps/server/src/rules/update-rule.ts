import { isDeepStrictEqual } from 'node:util';
import {
  differingOptions,
  type Platform,
  type PlatformOptions,
  platforms as platformNames,
  type RequestOf,
  type Rule,
} from '@earshot/contract';
import type { Handler, Principal } from '../accounts/call.ts';
import type { Change } from '../accounts/change.ts';
import type { RulePricing } from '../billing/prices.ts';
import { type Database, refusable, type Sql } from '../engines/database.ts';
import type { Tiers } from '../language/rule-language.ts';
import { badField, type Failure } from '../runtime/failure.ts';
import type { RuleValue } from '../slots/slot-holding.sql.ts';
import { platforms as descriptors } from '../upstream/platforms.ts';
import { type ChangeRuleOptions, changeRule } from './change-rule.ts';
import { assertExamplesHold, assertPlanAllows, checkExamples, checkExpiry, checkRule } from './check-rule.ts';
import type { AssertAffordable } from './create-rule.ts';
import { readRule, valuesOf } from './get-rule.ts';
import { assertJudge, assertVersion, managedKeyTaken } from './refusals.ts';
import {
  type BegunChange,
  type ChangeOutcome,
  formerRows,
  type LockedRule,
  lockRule,
  markBegun,
  type Refuse,
  type RuleUpdate,
  readLocked,
  record,
  takeSlots,
  toValue,
  type VersionRow,
  versionRows,
  writeApplied,
} from './rule-changes.sql.ts';
import { assignManagedKey, isPremium, managedByOf, premiumRulesReached } from './rule-rows.sql.ts';

export interface UpdateRuleOptions extends ChangeRuleOptions {
  /** How long an old query stays registered beside the new one, which is not effective at once (x.md §3.6). */
  readonly keepOldMs: number;
  readonly tiers: Tiers;
  readonly hasJudge: boolean;
  readonly assertAffordable: AssertAffordable;
}

/** Changes all named fields, or none of them. */
export function updateRule(options: UpdateRuleOptions): Handler<'UpdateRule'> {
  return async ({ principal, request, change: requested }) => {
    const { accountId } = principal;
    const { rule_id: ruleId, name, intent, overrides } = request;
    const named = platformNames.filter((platform) => overrides?.[platform] !== undefined);
    const values = overrides && checkRule({ ...request, platforms: named, overrides }, options.tiers).values;
    assertPlanAllows(principal, request.platforms ?? named);
    const before = await readRule(options.store, { accountId, ruleId });
    await assertExamples(before, principal, request);
    assertJudge(request.relevance, options);
    const premiumRulesMax = principal.limits.rules;
    const update = {
      accountId,
      ruleId,
      name,
      intent,
      expiresAt: checkExpiry(request.expires_at),
      budget: request.budget,
      examples: request.examples,
      relevance: request.relevance,
      alerts: request.alerts,
      managedBy: request.managed_by,
      ifVersion: request.if_version,
      values,
      options: request.options,
      platforms: request.platforms,
      premiumRulesMax,
      keepOldMs: options.keepOldMs,
    };
    if (maySpendMore(request))
      await options.assertAffordable({
        accountId,
        keyId: principal.keyId,
        ruleId,
        ...(await spendingAfter(options.database, before, update)),
        budget: request.budget,
        acceptsEstimate: request.accept_estimate === true,
      });
    const begin = () => beginUpdate(options.database, update, requested, options.pricing);
    const rule = await changeRule(options, { accountId, ruleId, premiumRulesMax, requested, begin });
    options.telemetry.ruleChanged({ ruleId, accountId, change: 'updated' });
    return rule;
  };
}

/** Checks the rule as it would be after the update: a new query must not break the rule's examples. */
async function assertExamples(
  rule: Rule,
  { accountId }: Principal,
  request: RequestOf<'UpdateRule'>,
): Promise<void> {
  const concerned = [request.overrides, request.platforms, request.examples].some((one) => one !== undefined);
  if (!concerned || request.examples === null) return;
  const examples = request.examples ?? rule.examples;
  if (!examples) return;
  const current = platformNames.map((platform) => [platform, rule.platforms[platform]?.value] as const);
  const isKept = ([platform]: (typeof current)[number]) => request.platforms?.includes(platform) ?? true;
  const kept = Object.fromEntries(current.filter(isKept));
  const overrides = { ...kept, ...request.overrides };
  assertExamplesHold(await checkExamples(accountId, overrides, examples));
}

/** A rule that expires later costs more, too. */
function maySpendMore({ overrides, options, platforms, budget, expires_at }: RequestOf<'UpdateRule'>) {
  return [overrides, options, platforms, budget, expires_at].some((field) => field !== undefined);
}

/** Reads without a lock: estimating the change may take seconds, and its budgets hold in any case. */
async function spendingAfter(database: Database, rule: Rule, update: RuleUpdate) {
  const current = valuesOf(rule.platforms);
  const former = await formerValues(database.forAccount(update.accountId), rule, current, update);
  const values = valuesAfter(current, former, update);
  const isNew = values.some((value) => !current.some((one) => isSameQuery(one, value)));
  return { values, kind: isNew ? ('query' as const) : ('limits' as const) };
}

/** Writes the next version and takes the slots that it needs. If nothing upstream must change, the update is applied at once. */
export function beginUpdate(
  database: Database,
  update: RuleUpdate,
  change: Change,
  pricing: RulePricing,
): Promise<ChangeOutcome> {
  return assignManagedKey(update.managedBy, () =>
    refusable<ChangeOutcome>(database.forRuleChange(change.accountId), (sql, refuse) =>
      begin(sql, update, { change, pricing }, refuse),
    ),
  );
}

async function begin(
  sql: Sql,
  update: RuleUpdate,
  { change: requested, pricing }: { change: Change; pricing: RulePricing },
  refuse: Refuse,
): Promise<ChangeOutcome> {
  const { ruleId } = update;
  const rule = await lockRule(sql, ruleId);
  if (rule?.account_id !== update.accountId) return { kind: 'not_found' };
  if (rule.changing_to !== null) return { kind: 'under_way' };
  assertVersion(rule.version, update.ifVersion);
  await assertKeyFree(sql, update);
  const current = await versionRows(sql, rule);
  const currentValues = current.map(toValue);
  const former = await formerValues(sql, rule, currentValues, update);
  const values = valuesAfter(currentValues, former, update);
  if (isSame(rule, current, { ...update, values }))
    return { kind: 'applied', rule: await readLocked(sql, rule, pricing) };
  await assertPremiumRoom(sql, { rule, current, values, premiumRulesMax: update.premiumRulesMax }, refuse);
  const change: BegunChange = { ruleId, version: rule.version + 1, update };
  const isNew = (value: RuleValue) => rule.state !== 'paused' && !sameSlot(current, value);
  const taken = values.filter(isNew);
  await takeSlots(sql, { rule, values: taken, version: change.version }, refuse);
  for (const value of values) if (!isNew(value)) await keepSlot(sql, change, value, sameSlot(current, value));
  if (taken.length > 0) return await markBegun(sql, change);
  await writeApplied(sql, change);
  return { kind: 'applied', rule: await record(sql, rule, requested, pricing) };
}

/** The last queries on platforms to which the rule returns without a new query. */
async function formerValues(
  sql: Pick<Sql, 'many'>,
  rule: Pick<LockedRule, 'id' | 'version'>,
  current: readonly RuleValue[],
  { platforms = [], values = [] }: RuleUpdate,
): Promise<RuleValue[]> {
  const known = [...current, ...values].map(({ platform }) => platform);
  const missing = platforms.filter((platform) => !known.includes(platform));
  if (missing.length === 0) return [];
  const former = await formerRows(sql, rule, missing);
  const unknown = missing.find((platform) => !former.some((row) => row.platform === platform));
  if (unknown !== undefined) throw noValue(unknown);
  return former.map(toValue);
}

function noValue(platform: Platform): Failure {
  const message = `The rule has never been on "${platform}". Send a query for it.`;
  return badField(`overrides.${platform}`, message, 'missing_override');
}

/** The rule's queries after the update. Those that the update does not name are not validated again. */
function valuesAfter(
  current: readonly RuleValue[],
  former: readonly RuleValue[],
  update: RuleUpdate,
): readonly RuleValue[] {
  const { platforms, values = [], options = {} } = update;
  const isKept = ({ platform }: RuleValue) =>
    (platforms?.includes(platform) ?? true) && !values.some((value) => value.platform === platform);
  const after = [...[...current, ...former].filter(isKept), ...values];
  assertPlatforms(after, options);
  return after.map((value) => ({
    ...value,
    options:
      differingOptions(value.platform, options) ??
      current.find(({ platform }) => platform === value.platform)?.options ??
      value.options ??
      {},
  }));
}

function assertPlatforms(values: readonly RuleValue[], options: PlatformOptions): void {
  const other = Object.keys(options).find((name) => !values.some(({ platform }) => platform === name));
  if (other === undefined) return;
  throw badField(`options.${other}`, `The rule is not on "${other}".`);
}

function sameSlot(current: readonly VersionRow[], value: RuleValue) {
  return current.find((row) => isSameQuery(toValue(row), value));
}

/** Whether both have the same upstream rule. */
function isSameQuery({ options = {}, ...one }: RuleValue, other: RuleValue): boolean {
  return (
    one.platform === other.platform &&
    one.translatedValue === other.translatedValue &&
    isDeepStrictEqual(options, other.options ?? {})
  );
}

/** Writes the new version of a query that needs no new slot. A paused rule has no slots: it takes them when it is resumed. */
async function keepSlot(
  sql: Sql,
  { ruleId, version }: BegunChange,
  { platform, value, translatedValue, options = {} }: RuleValue,
  kept: VersionRow | undefined,
): Promise<void> {
  await sql.run(
    `insert into rule_versions (rule_id, version, platform, value, translated_value, platform_rule_id, slot_id, options)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      ruleId,
      version,
      platform,
      value,
      translatedValue,
      kept?.platform_rule_id ?? descriptors[platform].newRuleId(),
      kept?.slot_id ?? '',
      JSON.stringify(options),
    ],
  );
}

/** Whether the update changes nothing. */
function isSame(rule: LockedRule, current: readonly VersionRow[], update: RuleUpdate): boolean {
  const { name = rule.name, intent = rule.intent, expiresAt = rule.expires_at, values = [] } = update;
  const sameValues =
    values.length === current.length &&
    values.every((value) =>
      current.some(
        (one) =>
          one.platform === value.platform &&
          one.value === value.value &&
          isDeepStrictEqual(one.options, value.options ?? {}),
      ),
    );
  const sameExpiry = expiresAt?.getTime() === rule.expires_at?.getTime();
  const { examples = rule.examples, managedBy = managedByOf(rule), budget = rule.budget } = update;
  const { relevance = rule.relevance, alerts = rule.alerts } = update;
  const sameAsCode =
    isDeepStrictEqual(examples, rule.examples) &&
    isDeepStrictEqual(relevance, rule.relevance) &&
    alerts === rule.alerts &&
    isDeepStrictEqual(managedBy, managedByOf(rule)) &&
    isDeepStrictEqual(budget, rule.budget);
  return name === rule.name && intent === rule.intent && sameExpiry && sameValues && sameAsCode;
}

async function assertPremiumRoom(
  sql: Sql,
  requested: {
    rule: LockedRule;
    current: readonly VersionRow[];
    values: readonly RuleValue[];
    premiumRulesMax: number;
  },
  refuse: Refuse,
): Promise<void> {
  if (!isPremium(requested.values) || isPremium(requested.current)) return;
  const used = await premiumRulesReached(sql, requested.rule.account_id, requested.premiumRulesMax);
  if (used !== null) refuse({ kind: 'premium_limit', used });
}

/** Checked before the upstreams are called, for a change that could not be applied afterwards. */
async function assertKeyFree(sql: Sql, { accountId, ruleId, managedBy }: RuleUpdate): Promise<void> {
  if (!managedBy) return;
  const holder = await sql.one(
    `select 1 from rules
     where account_id = $1 and managed_set = $2 and managed_key = $3 and state <> 'deleted' and id <> $4`,
    [accountId, managedBy.set, managedBy.key, ruleId],
  );
  if (holder) throw managedKeyTaken(managedBy);
}
