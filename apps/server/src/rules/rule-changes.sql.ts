import type {
  AlertSensitivity,
  Budget,
  Platform,
  PlatformOptions,
  Rule,
  RuleExamples,
  RuleRelevance,
} from '@earshot/contract';
import { type Change, recordChange } from '../accounts/change.ts';
import type { RulePricing } from '../billing/prices.ts';
import type { Database, Sql } from '../engines/database.ts';
import { raiseNotices, resolveNotices } from '../notices/notice-log.sql.ts';
import { leaveSlots, type RuleValue, takeSlot } from '../slots/slot-holding.sql.ts';
import type { RuleOptions } from '../upstream/upstream-rules.ts';
import type { ManagedBy, PlacementRefusal } from './refusals.ts';
import { assignManagedKey, type PauseReason, type RuleRow, ruleById, toRule } from './rule-rows.sql.ts';

/*
 * The common part of changes to existing rules. A change that needs the upstreams is written first (`begun`): its new slots are held, but
 * their events do not belong to the rule yet. It is applied or undone when the upstreams have answered. A rule has one change at a time.
 *
 * Lock order: the rule's row, then the account if premium rules are counted, then slots, then notices. So two changes of one rule run
 * one after the other, and none runs into a deletion that is half done.
 */

/** The audited operation when Earshot pauses an expired rule. */
export const expireRule = 'ExpireRule';

export interface RuleUpdate {
  readonly accountId: string;
  readonly ruleId: string;
  /** Undefined fields stay as they are. */
  readonly name: string | undefined;
  readonly intent: string | undefined;
  readonly expiresAt: Date | null | undefined;
  readonly budget?: Budget | null | undefined;
  readonly examples?: RuleExamples | null | undefined;
  readonly relevance?: RuleRelevance | null | undefined;
  readonly alerts?: AlertSensitivity | null | undefined;
  readonly managedBy?: ManagedBy | undefined;
  readonly values: readonly RuleValue[] | undefined;
  /** Platforms that are not named keep their options. */
  readonly options?: PlatformOptions | undefined;
  /** Exactly these, even if `values` has others; if undefined, the present platforms and those of `values`. */
  readonly platforms?: readonly Platform[] | undefined;
  /** The version that the caller has read, if it matters. */
  readonly ifVersion?: number | undefined;
  readonly premiumRulesMax: number;
  readonly keepOldMs: number;
}

/** What is needed to apply the change. Only the waiting process has it: if it dies, the change is undone. */
export interface BegunChange {
  readonly ruleId: string;
  readonly version: number;
  readonly update: RuleUpdate | null;
}

export type ChangeOutcome =
  | { readonly kind: 'begun'; readonly change: BegunChange }
  /** Done, because nothing upstream, or nothing at all, had to change. */
  | { readonly kind: 'applied'; readonly rule: Rule }
  | { readonly kind: 'not_found' | 'under_way' | 'not_paused' | 'expired' }
  /** The rule is paused for a budget until then; null: until the budget is changed. */
  | { readonly kind: 'budget_reached'; readonly resumesAt: Date | null }
  | PlacementRefusal;

export type Refuse = (outcome: ChangeOutcome) => never;

export interface LockedRule {
  id: string;
  account_id: string;
  name: string;
  intent: string;
  state: 'active' | 'paused' | 'failed';
  version: number;
  expires_at: Date | null;
  expired: boolean;
  /** Created as a trial, and not changed since. A change makes it a normal rule. */
  is_trial: boolean;
  budget: Budget | null;
  pause_reason: PauseReason | null;
  budget_check_at: Date | null;
  /** Whether the check of its budgets is due. */
  is_due: boolean;
  examples: RuleExamples | null;
  relevance: RuleRelevance | null;
  alerts: AlertSensitivity | null;
  managed_set: string | null;
  managed_key: string | null;
  changing_to: number | null;
}

export interface VersionRow {
  platform: Platform;
  value: string;
  translated_value: string;
  options: RuleOptions;
  platform_rule_id: string;
  slot_id: string;
}

/** Null if there is no such rule, or it is still being created. */
export async function lockRule(sql: Sql, ruleId: string): Promise<LockedRule | null> {
  return await sql.one<LockedRule>(
    `select id, account_id, name, intent, state, version, expires_at, expires_at <= now() as expired,
       trial and version = 1 as is_trial, budget, pause_reason, budget_check_at, coalesce(budget_check_at <= now(), false) as is_due, examples, relevance, alerts,
       managed_set, managed_key, changing_to
     from rules where id = $1 and state not in ('creating', 'deleted') for update`,
    [ruleId],
  );
}

/** The queries of the rule's current version. */
export function versionRows(sql: Sql, { id, version }: LockedRule): Promise<VersionRow[]> {
  return sql.many<VersionRow>(
    `select platform, value, translated_value, options, platform_rule_id, slot_id from rule_versions
     where rule_id = $1 and version = $2 order by platform`,
    [id, version],
  );
}

/** The last queries of the rule on platforms that it has left. */
export function formerRows(
  sql: Pick<Sql, 'many'>,
  { id, version }: Pick<LockedRule, 'id' | 'version'>,
  platforms: readonly Platform[],
): Promise<VersionRow[]> {
  return sql.many<VersionRow>(
    `select distinct on (platform) platform, value, translated_value, options, platform_rule_id, slot_id
     from rule_versions where rule_id = $1 and version < $2 and platform = any($3)
     order by platform, version desc`,
    [id, version, platforms],
  );
}

export function toValue(row: VersionRow): RuleValue {
  const { platform, value, translated_value: translatedValue, options } = row;
  return { platform, value, translatedValue, options };
}

/** Takes the slots of the values as `pending`, for a version that is not applied yet. In lock order. */
export async function takeSlots(
  sql: Sql,
  { rule, values, version }: { rule: LockedRule; values: readonly RuleValue[]; version: number },
  refuse: Refuse,
): Promise<void> {
  const owner = { id: rule.id, accountId: rule.account_id };
  for (const value of values.toSorted((a, b) => (a.platform < b.platform ? -1 : 1))) {
    const placement = await takeSlot(sql, owner, value, { version, pending: true });
    if (placement.kind !== 'taken') refuse(placement);
  }
}

export async function markBegun(sql: Sql, change: BegunChange): Promise<ChangeOutcome> {
  await sql.run('update rules set changing_to = $2, changing_since = now() where id = $1', [
    change.ruleId,
    change.version,
  ]);
  return { kind: 'begun', change };
}

/** Makes the new version current. Null if the change was undone, or the rule deleted, in the meantime. */
export function applyChange(
  database: Database,
  begun: BegunChange,
  change: Change,
  pricing: RulePricing,
): Promise<Rule | null> {
  return assignManagedKey(begun.update?.managedBy, () =>
    database.forRuleChange(change.accountId).transaction(async (sql) => {
      const rule = await lockRule(sql, begun.ruleId);
      if (rule?.changing_to !== begun.version) return null;
      await writeApplied(sql, begun);
      const applied = await record(sql, rule, change, pricing);
      await resolveOutdatedNotices(sql, applied);
      if (begun.update === null)
        await resolveNotices(sql, { types: ['budget.reached'], subject: { kind: 'rule', id: rule.id } });
      return applied;
    }),
  );
}

/**
 * A slot on the same platform stays held until the new one is effective; others are released at once. A post that only the old query
 * matches in the meantime is stored with the old version, which is better than a gap.
 */
export async function writeApplied(sql: Sql, { ruleId, version, update }: BegunChange): Promise<void> {
  await sql.run(
    `update rules set version = $2, name = coalesce($3, name), intent = coalesce($4, intent),
       expires_at = case when $5 then $6::timestamptz else expires_at end,
       state = case when $7 then 'active' else state end,
       examples = case when $8 then $9::json else examples end,
       managed_set = case when $10 then $11 else managed_set end,
       managed_key = case when $10 then $12 else managed_key end,
       budget = case when $13 then $14::json else budget end,
       relevance = case when $15 then $16::json else relevance end,
       judged_position = case when not $15 then judged_position
         when ($16::json->>'judge')::boolean then coalesce(judged_position, (select last_position from match_log)) end,
       intent_version = intent_version + case when coalesce($4, intent) <> intent
         or $15 and ($16::json->'criteria')::text is distinct from (relevance->'criteria')::text then 1 else 0 end,
       alerts = case when $17 then $18 else alerts end,
       pause_reason = case when $7 then null else pause_reason end,
       budget_check_at = case when $7 or $13 then now() else budget_check_at end,
       updated_at = now(), changing_to = null, changing_since = null
     where id = $1`,
    [
      ruleId,
      version,
      update?.name ?? null,
      update?.intent ?? null,
      update !== null && update.expiresAt !== undefined,
      update?.expiresAt ?? null,
      update === null,
      update?.examples !== undefined,
      update?.examples ? JSON.stringify(update.examples) : null,
      update?.managedBy !== undefined,
      update?.managedBy?.set ?? null,
      update?.managedBy?.key ?? null,
      update?.budget !== undefined,
      update?.budget ? JSON.stringify(update.budget) : null,
      update?.relevance !== undefined,
      update?.relevance ? JSON.stringify(update.relevance) : null,
      update?.alerts !== undefined,
      update?.alerts ?? null,
    ],
  );
  const current = 'select slot_id from rule_versions where rule_id = $1 and version = $2';
  await sql.run(
    `update slot_holders set pending = false, rule_version = $2, release_at = null
     where rule_id = $1 and slot_id in (${current})`,
    [ruleId, version],
  );
  await sql.run(
    `update slot_holders set release_at = case
       when platform in (select platform from rule_versions where rule_id = $1 and version = $2)
       then now() + $3 * interval '1 ms' else now() end
     where rule_id = $1 and release_at is null and slot_id not in (${current})`,
    [ruleId, version, update?.keepOldMs ?? 0],
  );
}

/** Restores the previous state of the rule. Does nothing if the change is no longer in progress. */
export async function undoChange(sql: Sql, ruleId: string): Promise<void> {
  const rule = await lockRule(sql, ruleId);
  if (!rule || rule.changing_to === null) return;
  const held = await sql.many<{ slot_id: string }>(
    'select slot_id from slot_holders where rule_id = $1 and pending',
    [ruleId],
  );
  await leaveSlots(sql, ruleId, { only: held.map((one) => one.slot_id) });
  await sql.run('delete from rule_versions where rule_id = $1 and version > $2', [ruleId, rule.version]);
  await sql.run('update rules set changing_to = null, changing_since = null where id = $1', [ruleId]);
}

/** Pauses a rule whose row is locked: it leaves all its slots. After a budget or suspension, it is resumed automatically. */
export async function pauseLocked(
  sql: Sql,
  rule: LockedRule,
  change: Change,
  { pricing, until }: { pricing: RulePricing; until?: { reason: PauseReason; resumesAt: Date | null } },
): Promise<Rule> {
  await leaveSlots(sql, rule.id, { stopped: until !== undefined && until.reason !== 'suspension' });
  await sql.run(
    `update rules set state = 'paused', updated_at = now(), pause_reason = $2, budget_check_at = $3 where id = $1`,
    [rule.id, until?.reason ?? null, until?.resumesAt ?? null],
  );
  const paused = await record(sql, rule, change, pricing);
  const subject = { kind: 'rule', id: rule.id, name: rule.name } as const;
  await resolveNotices(sql, { types: ['rule.refused'], subject });
  // A pause for a budget has the notice of the budget.
  if (change.actor === 'earshot' && !until)
    await raiseNotices(sql, [rule.account_id], pausedNotice(rule, change));
  return paused;
}

/** Only pauses that Earshot makes automatically raise a notice. */
function pausedNotice(rule: LockedRule, { operation }: Change) {
  const subject = { kind: 'rule', id: rule.id, name: rule.name } as const;
  if (operation !== expireRule) return { type: 'rule.paused', subject, data: { reason: operation } } as const;
  const expires_at = rule.expires_at?.toISOString() ?? null;
  const data = { expires_at, ...(rule.is_trial && { trial: true as const }) };
  return { type: 'rule.expired', subject, data } as const;
}

/** Resolves notices that no longer hold: an active rule is not paused, and not refused where its slot is registered. */
async function resolveOutdatedNotices(sql: Sql, { id, state, platforms }: Rule): Promise<void> {
  if (state !== 'active') return;
  const subject = { kind: 'rule', id } as const;
  await resolveNotices(sql, { types: ['rule.paused', 'rule.expired'], subject });
  for (const [platform, { status = 'failed' } = {}] of Object.entries(platforms))
    if (status !== 'failed') await resolveNotices(sql, { types: ['rule.refused'], subject, key: platform });
}

/** Records who changed the rule and how; the answer is the rule as it is now. */
export async function record(
  sql: Sql,
  before: LockedRule,
  change: Change,
  pricing: RulePricing,
): Promise<Rule> {
  const rule = await readLocked(sql, before, pricing);
  const facts = ({ name, state, version }: LockedRule | Rule) => ({ name, state, version });
  await recordChange(sql, change, {
    targetId: rule.id,
    before: facts(before),
    after: facts(rule),
    answer: rule,
  });
  return rule;
}

export async function readLocked(
  sql: Sql,
  { id, account_id }: LockedRule,
  pricing: RulePricing,
): Promise<Rule> {
  const row = await sql.one<RuleRow>(ruleById(pricing), [account_id, id]);
  if (!row) throw new Error('a rule is gone although its row is locked');
  return toRule(row, pricing);
}
