import type { AnswerOf, Rule } from '@earshot/contract';
import { type Change, recordChange } from '../accounts/change.ts';
import { type Database, refusable, type Sql } from '../engines/database.ts';
import { createSlotStates } from '../slots/held-slots.ts';
import { leaveSlots, takeSlot } from '../slots/slot-holding.ts';
import { createActivate } from './activate-rule.ts';
import { createRegistered } from './create-registered.ts';
import { asCodeColumns, givingKey } from './managed-keys.ts';
import { countPremiumRules } from './premium-rules.ts';
import { type RuleRow, ruleById, rulePage, toRule } from './rule-rows.ts';
import type { BeginOutcome, NewRule, RuleStore } from './rule-store.ts';
import { assertVersion } from './rule-version.ts';
import type { AbandonedRules } from './upkeep.ts';

export function createRuleStore(database: Database): RuleStore & AbandonedRules {
  const slotStates = createSlotStates(database);
  return {
    begin: (rule, whenRegistered) =>
      givingKey(rule.managedBy, async () => {
        const tried = whenRegistered && (await createRegistered(database, rule, whenRegistered));
        if (tried?.created) return { kind: 'created', answer: tried.created };
        return await refusable<BeginOutcome>(database.forAccount(rule.accountId), async (sql, refuse) => {
          await begin(sql, rule, refuse);
          return { kind: 'begun', equivalentRuleId: tried?.equivalentRuleId ?? null };
        });
      }),
    slotStates: (ruleId, version = 1) => slotStates({ ruleId, version }),
    activate: createActivate(database),
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
    delete: (change, ruleId, ifVersion) =>
      database.forAccount(change.accountId).transaction((sql) => remove(sql, change, ruleId, ifVersion)),
    async exists(accountId, ruleId) {
      const row = await database
        .forAccount(accountId)
        .one(
          `select 1 from rules where id = $1 and account_id = $2 and state not in ('creating', 'deleted')`,
          [ruleId, accountId],
        );
      return row !== null;
    },
    async get(accountId, ruleId) {
      const row = await database.forAccount(accountId).one<RuleRow>(ruleById, [accountId, ruleId]);
      return row && toRule(row);
    },
    async page(accountId, { before, limit }): Promise<Rule[]> {
      const rows = await database.forAccount(accountId).many<RuleRow>(rulePage, [accountId, before, limit]);
      return rows.map(toRule);
    },
  };
}

async function begin(sql: Sql, rule: NewRule, refuse: (outcome: BeginOutcome) => never): Promise<void> {
  if (rule.values.some(({ platform }) => platform === 'x')) {
    const used = await countPremiumRules(sql, rule.accountId);
    if (used >= rule.premiumRulesMax) refuse({ kind: 'premium_limit', used });
  }
  await sql.prepared(
    `insert into rules (id, account_id, name, intent, state, expires_at, examples, managed_set, managed_key)
     values ($1, $2, $3, $4, 'creating', $5, $6, $7, $8)`,
    [rule.id, rule.accountId, rule.name, rule.intent, rule.expiresAt, ...asCodeColumns(rule)],
  );
  for (const value of rule.values.toSorted((a, b) => (a.platform < b.platform ? -1 : 1))) {
    const placement = await takeSlot(sql, rule, value);
    if (placement.kind !== 'taken') return refuse(placement);
  }
}

async function remove(
  sql: Sql,
  change: Change,
  ruleId: string,
  ifVersion: number | undefined,
): Promise<AnswerOf<'DeleteRule'> | null> {
  const row = await sql.one<{ deleted_at: Date; name: string; state: string; version: number }>(
    `update rules set state = 'deleted', deleted_at = now(), updated_at = now()
     from (
       select id, name, state, version from rules
       where id = $1 and account_id = $2 and state not in ('creating', 'deleted') for update
     ) as before
     where rules.id = before.id
     returning rules.deleted_at, before.name, before.state, before.version`,
    [ruleId, change.accountId],
  );
  if (!row) return null;
  assertVersion(row.version, ifVersion);
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
