import { isDeepStrictEqual } from 'node:util';
import type { Platform, Rule, RuleExamples } from '@earshot/contract';
import { type Change, recordChange } from '../accounts/change.ts';
import { type Database, refusable, type Sql } from '../engines/database.ts';
import { leaveSlots, takeSlot } from '../slots/slot-holding.ts';
import { assertKeyFree, givingKey } from './managed-keys.ts';
import { countPremiumRules } from './premium-rules.ts';
import type {
  BegunChange,
  ChangeOutcome,
  RuleChangeStore,
  RuleResume,
  RuleUpdate,
} from './rule-change-store.ts';
import { managedByOf, type RuleRow, ruleById, toRule } from './rule-rows.ts';
import type { NewRuleValue } from './rule-store.ts';
import { assertVersion } from './rule-version.ts';

/*
 * The rule's row is locked first, then the account where premium rules are counted, then slots: so two changes of
 * one rule follow each other, and none meets a deletion half way.
 */

export interface LockedRule {
  id: string;
  account_id: string;
  name: string;
  intent: string;
  state: 'active' | 'paused' | 'failed';
  version: number;
  expires_at: Date | null;
  expired: boolean;
  examples: RuleExamples | null;
  managed_set: string | null;
  managed_key: string | null;
  changing_to: number | null;
}

interface VersionRow {
  platform: Platform;
  value: string;
  translated_value: string;
  slot_id: string;
}

type Refuse = (outcome: ChangeOutcome) => never;

export function createRuleChangeStore(database: Database): RuleChangeStore {
  return {
    beginUpdate: (update, change) =>
      givingKey(update.managedBy, () =>
        refusable<ChangeOutcome>(database.forAccount(change.accountId), (sql, refuse) =>
          beginUpdate(sql, update, change, refuse),
        ),
      ),
    beginResume: (resume) =>
      refusable<ChangeOutcome>(database.forAccount(resume.accountId), (sql, refuse) =>
        beginResume(sql, resume, refuse),
      ),
    apply: (begun, change) =>
      givingKey(begun.update?.managedBy, () =>
        database.forAccount(change.accountId).transaction(async (sql) => {
          const rule = await lockRule(sql, begun.ruleId);
          if (rule?.changing_to !== begun.version) return null;
          await apply(sql, begun);
          return await record(sql, rule, change);
        }),
      ),
    undo: (ruleId) => database.transaction((sql) => undoChange(sql, ruleId)),
    pause: (ruleId, change) =>
      database.forAccount(change.accountId).transaction(async (sql) => {
        const rule = await lockRule(sql, ruleId);
        if (rule?.account_id !== change.accountId) return { kind: 'not_found' };
        if (rule.changing_to !== null) return { kind: 'under_way' };
        if (rule.state === 'paused') return { kind: 'not_active' };
        return { kind: 'paused', rule: await pauseRule(sql, rule, change) };
      }),
  };
}

export async function lockRule(sql: Sql, ruleId: string): Promise<LockedRule | null> {
  return await sql.one<LockedRule>(
    `select id, account_id, name, intent, state, version, expires_at, expires_at <= now() as expired, examples,
       managed_set, managed_key, changing_to
     from rules where id = $1 and state not in ('creating', 'deleted') for update`,
    [ruleId],
  );
}

export async function pauseRule(sql: Sql, rule: LockedRule, change: Change): Promise<Rule> {
  await leaveSlots(sql, rule.id);
  await sql.run(`update rules set state = 'paused', updated_at = now() where id = $1`, [rule.id]);
  return await record(sql, rule, change);
}

/** Who changed it and how, with the rule as it is now for an answer. */
async function record(sql: Sql, before: LockedRule, change: Change): Promise<Rule> {
  const rule = await readRule(sql, before);
  const facts = ({ name, state, version }: LockedRule | Rule) => ({ name, state, version });
  await recordChange(sql, change, {
    targetId: rule.id,
    before: facts(before),
    after: facts(rule),
    answer: rule,
  });
  return rule;
}

async function readRule(sql: Sql, { id, account_id }: LockedRule): Promise<Rule> {
  const row = await sql.one<RuleRow>(ruleById, [account_id, id]);
  if (!row) throw new Error('a rule is gone although its row is locked');
  return toRule(row);
}

/** Does nothing when the change is no longer under way. */
export async function undoChange(sql: Sql, ruleId: string): Promise<string[]> {
  const rule = await lockRule(sql, ruleId);
  if (!rule || rule.changing_to === null) return [];
  const held = await sql.many<{ slot_id: string }>(
    'select slot_id from slot_holders where rule_id = $1 and pending',
    [ruleId],
  );
  const slotIds = await leaveSlots(
    sql,
    ruleId,
    held.map((one) => one.slot_id),
  );
  await sql.run('delete from rule_versions where rule_id = $1 and version > $2', [ruleId, rule.version]);
  await sql.run('update rules set changing_to = null, changing_since = null where id = $1', [ruleId]);
  return slotIds;
}

async function beginUpdate(
  sql: Sql,
  update: RuleUpdate,
  asked: Change,
  refuse: Refuse,
): Promise<ChangeOutcome> {
  const { ruleId } = update;
  const rule = await lockRule(sql, ruleId);
  if (rule?.account_id !== update.accountId) return { kind: 'not_found' };
  if (rule.changing_to !== null) return { kind: 'under_way' };
  assertVersion(rule.version, update.ifVersion);
  await assertKeyFree(sql, update);
  const current = await versionRows(sql, rule);
  if (isSame(rule, current, update)) return { kind: 'applied', rule: await readRule(sql, rule) };
  const values = update.values ?? current.map(toValue);
  await assertPremiumRoom(sql, { rule, current, values, premiumRulesMax: update.premiumRulesMax }, refuse);
  const change: BegunChange = { ruleId, version: rule.version + 1, update };
  let taken = 0;
  for (const value of inOrder(values)) {
    const kept = current.find(
      (one) => one.platform === value.platform && one.translated_value === value.translatedValue,
    );
    // A paused rule holds nothing; it takes its slots when it is resumed.
    if (!kept && rule.state !== 'paused') {
      await take(sql, { rule, value, version: change.version }, refuse);
      taken++;
      continue;
    }
    await sql.run(
      `insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id)
       values ($1, $2, $3, $4, $5, $6)`,
      [ruleId, change.version, value.platform, value.value, value.translatedValue, kept?.slot_id ?? ''],
    );
  }
  if (taken > 0) return await markBegun(sql, change);
  await apply(sql, change);
  return { kind: 'applied', rule: await record(sql, rule, asked) };
}

async function beginResume(sql: Sql, resume: RuleResume, refuse: Refuse): Promise<ChangeOutcome> {
  const rule = await lockRule(sql, resume.ruleId);
  if (rule?.account_id !== resume.accountId) return { kind: 'not_found' };
  if (rule.changing_to !== null) return { kind: 'under_way' };
  if (rule.state !== 'paused') return { kind: 'not_paused' };
  if (rule.expired) return { kind: 'expired' };
  const values = (await versionRows(sql, rule)).map(toValue);
  if (values.some(({ platform }) => platform === 'x')) {
    // It is among the counted itself.
    const used = await countPremiumRules(sql, rule.account_id);
    if (used > resume.premiumRulesMax) refuse({ kind: 'premium_limit', used });
  }
  for (const value of inOrder(values)) {
    await take(sql, { rule, value, version: rule.version }, refuse);
  }
  return await markBegun(sql, { ruleId: rule.id, version: rule.version, update: null });
}

async function markBegun(sql: Sql, change: BegunChange): Promise<ChangeOutcome> {
  await sql.run('update rules set changing_to = $2, changing_since = now() where id = $1', [
    change.ruleId,
    change.version,
  ]);
  return { kind: 'begun', change };
}

/** A slot of the same platform stays held beside the new one until that is effective; others go at once. */
async function apply(sql: Sql, { ruleId, version, update }: BegunChange): Promise<void> {
  await sql.run(
    `update rules set version = $2, name = coalesce($3, name), intent = coalesce($4, intent),
       expires_at = case when $5 then $6::timestamptz else expires_at end,
       state = case when $7 then 'active' else state end,
       examples = case when $8 then $9::json else examples end,
       managed_set = case when $10 then $11 else managed_set end,
       managed_key = case when $10 then $12 else managed_key end,
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

function versionRows(sql: Sql, { id, version }: LockedRule): Promise<VersionRow[]> {
  return sql.many<VersionRow>(
    `select platform, value, translated_value, slot_id from rule_versions
     where rule_id = $1 and version = $2 order by platform`,
    [id, version],
  );
}

function isSame(rule: LockedRule, current: readonly VersionRow[], update: RuleUpdate): boolean {
  const { name = rule.name, intent = rule.intent, expiresAt = rule.expires_at, values } = update;
  const sameValues =
    values === undefined ||
    (values.length === current.length &&
      values.every((value) =>
        current.some((one) => one.platform === value.platform && one.value === value.value),
      ));
  const sameExpiry = expiresAt?.getTime() === rule.expires_at?.getTime();
  const { examples = rule.examples, managedBy = managedByOf(rule) } = update;
  const sameAsCode =
    isDeepStrictEqual(examples, rule.examples) && isDeepStrictEqual(managedBy, managedByOf(rule));
  return name === rule.name && intent === rule.intent && sameExpiry && sameValues && sameAsCode;
}

async function assertPremiumRoom(
  sql: Sql,
  asked: {
    rule: LockedRule;
    current: readonly VersionRow[];
    values: readonly NewRuleValue[];
    premiumRulesMax: number;
  },
  refuse: Refuse,
): Promise<void> {
  const onX = (rows: ReadonlyArray<{ platform: Platform }>) => rows.some(({ platform }) => platform === 'x');
  if (!onX(asked.values) || onX(asked.current)) return;
  const used = await countPremiumRules(sql, asked.rule.account_id);
  if (used >= asked.premiumRulesMax) refuse({ kind: 'premium_limit', used });
}

async function take(
  sql: Sql,
  { rule, value, version }: { rule: LockedRule; value: NewRuleValue; version: number },
  refuse: Refuse,
): Promise<void> {
  const owner = { id: rule.id, accountId: rule.account_id };
  const placement = await takeSlot(sql, owner, value, { version, pending: true });
  if (placement.kind !== 'taken') refuse(placement);
}

function toValue(row: VersionRow): NewRuleValue {
  return { platform: row.platform, value: row.value, translatedValue: row.translated_value };
}

function inOrder(values: readonly NewRuleValue[]): NewRuleValue[] {
  return values.toSorted((a, b) => (a.platform < b.platform ? -1 : 1));
}
