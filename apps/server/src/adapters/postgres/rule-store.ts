import type { AnswerOf, Platform, Rule } from '@earshot/contract';
import type { Change } from '../../changes/change.ts';
import type { BeginOutcome, HeldSlot, NewRule, RuleStore } from '../../rules/rule-store.ts';
import type { AbandonedRules } from '../../rules/undo-abandoned-worker.ts';
import type { ProblemKind, SlotState } from '../../slots/slot.ts';
import { recordChange } from './change-rows.ts';
import type { Database, Sql } from './database.ts';
import { type RuleRow, rulePage, toRule } from './rule-rows.ts';
import { leaveSlots, type Placement, takeSlot } from './slot-holding.ts';

/** Rolls the transaction back and carries the reason out of it. */
class Refusal extends Error {
  readonly outcome: BeginOutcome;
  constructor(outcome: BeginOutcome) {
    super('refused');
    this.outcome = outcome;
  }
}

export function createRuleStore(database: Database): RuleStore & AbandonedRules {
  return {
    async begin(rule) {
      try {
        await database.transaction((sql) => begin(sql, rule));
        return { kind: 'begun' };
      } catch (error) {
        if (error instanceof Refusal) return error.outcome;
        throw error;
      }
    },
    slotStates: (ruleId) => slotStates(database, ruleId),
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
    async page(accountId, { before, limit }): Promise<Rule[]> {
      return (await database.many<RuleRow>(rulePage, [accountId, before, limit])).map(toRule);
    },
  };
}

async function begin(sql: Sql, rule: NewRule): Promise<void> {
  if (rule.values.some(({ platform }) => platform === 'x')) await assertPremiumRoom(sql, rule);
  await sql.run(
    `insert into rules (id, account_id, name, intent, state) values ($1, $2, $3, $4, 'creating')`,
    [rule.id, rule.accountId, rule.name, rule.intent],
  );
  for (const value of rule.values.toSorted((a, b) => (a.platform < b.platform ? -1 : 1))) {
    const placement: Placement = await takeSlot(sql, rule, value);
    if (placement.kind !== 'taken') throw new Refusal(placement);
    await sql.run(
      `insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id)
       values ($1, 1, $2, $3, $4, $5)`,
      [rule.id, value.platform, value.value, value.translatedValue, placement.slotId],
    );
  }
}

/** Counted under the account's row lock, so that two requests cannot both take the last place. */
async function assertPremiumRoom(sql: Sql, rule: NewRule): Promise<void> {
  await sql.one('select 1 from accounts where id = $1 for update', [rule.accountId]);
  const row = await sql.one<{ used: number }>(
    `select count(*) as used from slot_holders where account_id = $1 and platform = 'x'`,
    [rule.accountId],
  );
  const used = row?.used ?? 0;
  if (used >= rule.premiumRulesMax) throw new Refusal({ kind: 'premium_limit', used });
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

async function slotStates(sql: Sql, ruleId: string): Promise<HeldSlot[]> {
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
     where slot_holders.rule_id = $1 order by slots.platform desc`,
    [ruleId],
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
