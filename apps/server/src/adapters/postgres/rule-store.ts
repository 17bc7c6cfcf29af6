import type { AnswerOf, Platform, Rule } from '@earshot/contract';
import type { Change } from '../../changes/change.ts';
import type { BeginOutcome, HeldSlot, NewRule, RuleStore } from '../../rules/rule-store.ts';
import type { AbandonedRules } from '../../rules/undo-abandoned-worker.ts';
import type { ProblemKind, SlotState } from '../../slots/slot.ts';
import { recordChange } from './change-rows.ts';
import type { Database, Sql } from './database.ts';
import { countPremiumRules } from './premium-rules.ts';
import { refusable } from './refusal.ts';
import { type RuleRow, ruleById, rulePage, toRule } from './rule-rows.ts';
import { leaveSlots, takeSlot } from './slot-holding.ts';

export function createRuleStore(database: Database): RuleStore & AbandonedRules {
  return {
    begin: (rule) =>
      refusable<BeginOutcome>(database, async (sql, refuse) => {
        await begin(sql, rule, refuse);
        return { kind: 'begun' };
      }),
    slotStates: (ruleId, version = 1) => slotStates(database, ruleId, version),
    activate: (change, answer) => database.transaction((sql) => activate(sql, change, answer)),
    abandon: (ruleId) => database.transaction((sql) => abandon(sql, ruleId)),
    async stillReleasing(slotIds) {
      const row = await database.one<{ count: number }>(
        `select count(*) from slots where id = any($1) and state in ('releasing', 'deleting')`,
        [slotIds],
      );
      return row?.count ?? 0;
    },
    async abandonOlderThan(ms) {
      const rules = await database.many<{ id: string }>(
        `select id from rules where state = 'creating' and created_at < now() - $1 * interval '1 ms' limit 100`,
        [ms],
      );
      for (const { id } of rules) await database.transaction((sql) => abandon(sql, id));
      return rules.length;
    },
    delete: (change, ruleId) => database.transaction((sql) => remove(sql, change, ruleId)),
    async exists(accountId, ruleId) {
      const row = await database.one(
        `select 1 from rules where id = $1 and account_id = $2 and state not in ('creating', 'deleted')`,
        [ruleId, accountId],
      );
      return row !== null;
    },
    async get(accountId, ruleId) {
      const row = await database.one<RuleRow>(ruleById, [accountId, ruleId]);
      return row && toRule(row);
    },
    equivalentOf: (accountId, ruleId) => equivalentOf(database, accountId, ruleId),
    async page(accountId, { before, limit }): Promise<Rule[]> {
      return (await database.many<RuleRow>(rulePage, [accountId, before, limit])).map(toRule);
    },
  };
}

async function begin(sql: Sql, rule: NewRule, refuse: (outcome: BeginOutcome) => never): Promise<void> {
  if (rule.values.some(({ platform }) => platform === 'x')) {
    const used = await countPremiumRules(sql, rule.accountId);
    if (used >= rule.premiumRulesMax) refuse({ kind: 'premium_limit', used });
  }
  await sql.run(
    `insert into rules (id, account_id, name, intent, state, expires_at) values ($1, $2, $3, $4, 'creating', $5)`,
    [rule.id, rule.accountId, rule.name, rule.intent, rule.expiresAt],
  );
  for (const value of rule.values.toSorted((a, b) => (a.platform < b.platform ? -1 : 1))) {
    const placement = await takeSlot(sql, rule, value);
    if (placement.kind !== 'taken') return refuse(placement);
    await sql.run(
      `insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id)
       values ($1, 1, $2, $3, $4, $5)`,
      [rule.id, value.platform, value.value, value.translatedValue, placement.slotId],
    );
  }
}

async function activate(sql: Sql, change: Change, answer: AnswerOf<'CreateRule'>): Promise<boolean> {
  const { rule_id } = answer;
  const row = await sql.one<{ name: string }>(
    `update rules set state = 'active' where id = $1 and state = 'creating' returning name`,
    [rule_id],
  );
  if (!row) return false;
  const after = { name: row.name, state: 'active' };
  await recordChange(sql, change, { targetId: rule_id, before: null, after, answer });
  return true;
}

async function remove(sql: Sql, change: Change, ruleId: string): Promise<AnswerOf<'DeleteRule'> | null> {
  const row = await sql.one<{ deleted_at: Date; name: string; state: string }>(
    `update rules set state = 'deleted', deleted_at = now(), updated_at = now()
     from (
       select id, name, state from rules
       where id = $1 and account_id = $2 and state not in ('creating', 'deleted') for update
     ) as before
     where rules.id = before.id
     returning rules.deleted_at, before.name, before.state`,
    [ruleId, change.accountId],
  );
  if (!row) return null;
  await leaveSlots(sql, ruleId);
  const answer = { rule_id: ruleId, deleted_at: row.deleted_at.toISOString() };
  const before = { name: row.name, state: row.state };
  await recordChange(sql, change, { targetId: ruleId, before, after: null, answer });
  return answer;
}

async function abandon(sql: Sql, ruleId: string): Promise<string[]> {
  const mine = await sql.one(`select 1 from rules where id = $1 and state = 'creating' for update`, [ruleId]);
  if (!mine) return [];
  const slotIds = await leaveSlots(sql, ruleId);
  // A tombstone, because an event may already have matched it: the purge takes both away.
  await sql.run(`update rules set state = 'deleted', deleted_at = now() where id = $1`, [ruleId]);
  return slotIds;
}

/** Candidates hold one of its slots, or are paused and hold none. */
async function equivalentOf(sql: Sql, accountId: string, ruleId: string): Promise<string | null> {
  const values = (rule: string) =>
    `(select array_agg(v.platform || ' ' || v.translated_value order by v.platform) from rule_versions v
      where v.rule_id = ${rule}.id and v.version = ${rule}.version)`;
  const row = await sql.one<{ id: string }>(
    `select other.id from rules mine join rules other on other.account_id = mine.account_id
     where mine.id = $2 and mine.account_id = $1 and other.id <> mine.id
       and other.state not in ('creating', 'deleted')
       and other.id in (
         select theirs.rule_id from slot_holders held join slot_holders theirs on theirs.slot_id = held.slot_id
         where held.rule_id = $2 and theirs.account_id = $1
         union all
         select id from rules where account_id = $1 and state = 'paused')
       and ${values('other')} = ${values('mine')}
     order by other.id limit 1`,
    [accountId, ruleId],
  );
  return row?.id ?? null;
}

async function slotStates(sql: Sql, ruleId: string, version: number): Promise<HeldSlot[]> {
  const rows = await sql.many<{
    platform: Platform;
    state: SlotState;
    upstream_rule_id: string | null;
    value: string;
    live: boolean;
    problem: string | null;
    problem_kind: ProblemKind | null;
  }>(
    `select slots.platform, slots.state, slots.upstream_rule_id, slots.value, sources.live_until > now() as live, slots.problem,
       slots.problem_kind
     from slot_holders
     join slots on slots.id = slot_holders.slot_id
     join sources on sources.id = slots.source_id
     join rule_versions v on v.slot_id = slots.id and v.rule_id = slot_holders.rule_id and v.version = $2
     where slot_holders.rule_id = $1 order by slots.platform desc`,
    [ruleId, version],
  );
  return rows.map((row) => ({
    platform: row.platform,
    state: row.state,
    upstreamRuleId: row.upstream_rule_id,
    translatedValue: row.value,
    live: row.live,
    problem: row.problem,
    problemKind: row.problem_kind,
  }));
}
