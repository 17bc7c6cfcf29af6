import type {
  AlertSensitivity,
  AnswerOf,
  Budget,
  Rule,
  RuleExamples,
  RuleRelevance,
} from '@earshot/contract';
import { type Change, keepAnswer, recordChange } from '../accounts/change.ts';
import { defaultPricing, type RulePricing } from '../billing/prices.ts';
import { type Database, refusable, type Sql } from '../engines/database.ts';
import { resolveNotices } from '../notices/notice-log.sql.ts';
import { newId } from '../runtime/ids.ts';
import { joinCalls } from '../runtime/join-calls.ts';
import { valueHash } from '../slots/slot.ts';
import { createHeldSlots, leaveSlots, type RuleValue, takeSlot } from '../slots/slot-holding.sql.ts';
import { assertVersion, type ManagedBy, type PlacementRefusal } from './refusals.ts';
import {
  asCodeColumns,
  assignManagedKey,
  isPremium,
  premiumRulesReached,
  type RuleRow,
  ruleById,
  rulePage,
  rulesByIds,
  toRule,
} from './rule-rows.sql.ts';

export interface NewRule {
  readonly id: string;
  readonly accountId: string;
  /** The calling key. */
  readonly createdBy: string;
  readonly name: string;
  readonly intent: string;
  readonly expiresAt: Date | null;
  readonly budget?: Budget | null;
  readonly isTrial?: boolean;
  readonly examples?: RuleExamples | null;
  readonly relevance?: RuleRelevance | null;
  readonly alerts?: AlertSensitivity | null;
  readonly managedBy?: ManagedBy;
  /** Default true. */
  readonly allowsEquivalent?: boolean;
  readonly premiumRulesMax: number;
  readonly values: readonly RuleValue[];
}

export type BeginOutcome =
  | {
      readonly kind: 'begun';
      /** The oldest other rule of the account with the same queries on the same platforms. */
      readonly equivalentRuleId: string | null;
      /** Set if the rule is already active: there was nothing to wait for. */
      readonly answer: Answer | null;
    }
  | { readonly kind: 'equivalent'; readonly ruleId: string }
  | PlacementRefusal;

type Answer = AnswerOf<'CreateRule'>;

/** The end of a creation: the answer is made from the rule as it is stored. */
export interface Completion {
  readonly change: Change;
  readonly ruleId: string;
  readonly answer: (rule: Rule, equivalentRuleId: string | null) => Answer;
}

export type RuleStore = ReturnType<typeof createRuleStore>;

/** Rules with their slots. Every call names the account; a rule of another account is treated as missing. */
export function createRuleStore(database: Database, pricing: RulePricing = defaultPricing()) {
  const heldSlots = createHeldSlots(database);
  const [byId, byIds, page] = [ruleById(pricing), rulesByIds(pricing), rulePage(pricing)];
  const activate: Activate = async (sql, activations) => {
    const activated = await activateAll(sql, activations);
    const rows = await sql.prepared<RuleRow>(byIds, [activated]);
    const rules = new Map(rows.map((row) => [row.id, toRule(row, pricing)]));
    return activations.map(({ ruleId }) => rules.get(ruleId) ?? null);
  };
  return {
    /**
     * Writes the rule as `creating` and takes its slots, before any upstream is called. If all slots are already registered and
     * `completion` is given, the same transaction activates the rule.
     */
    begin: (rule: NewRule, completion?: Completion): Promise<BeginOutcome> =>
      assignManagedKey(rule.managedBy, () =>
        refusable<BeginOutcome>(database.forRuleChange(rule.accountId), async (sql, refuse) => {
          const begun = await begin(sql, rule, refuse);
          const answer = completion ? await completeAtOnce(sql, begun, completion, activate) : null;
          return { kind: 'begun', equivalentRuleId: begun.equivalentRuleId, answer };
        }),
      ),
    /** The slots that the rule holds for a version. */
    slotStates: (ruleId: string, version = 1) => heldSlots({ ruleId, version }),
    /** Activates the rule and records the answer. Null if the creation was undone in the meantime. */
    activate: createActivate(database, activate),
    /** Undoes a rule that never became active: it leaves its slots. */
    abandon: (ruleId: string) => database.transaction((sql) => abandon(sql, ruleId)),
    async abandonOlderThan(ms: number): Promise<number> {
      const rules = await database.many<{ id: string }>(
        `select id from rules where state = 'creating' and created_at < now() - $1 * interval '1 ms' limit 100`,
        [ms],
      );
      for (const { id } of rules) await database.transaction((sql) => abandon(sql, id));
      return rules.length;
    },
    /** Null if there is no such rule. Throws if its version differs from `ifVersion`. */
    delete: (change: Change, ruleId: string, ifVersion?: number) =>
      database.forRuleChange(change.accountId).transaction((sql) => remove(sql, change, ruleId, ifVersion)),
    async exists(accountId: string, ruleId: string): Promise<boolean> {
      const row = await database
        .forAccount(accountId)
        .one(
          `select 1 from rules where id = $1 and account_id = $2 and state not in ('creating', 'deleted')`,
          [ruleId, accountId],
        );
      return row !== null;
    },
    async get(accountId: string, ruleId: string): Promise<Rule | null> {
      const row = await database.forAccount(accountId).one<RuleRow>(byId, [accountId, ruleId]);
      return row && toRule(row, pricing);
    },
    /** Newest first, below the given id. */
    async page(
      accountId: string,
      { before, limit }: { before: string | null; limit: number },
    ): Promise<Rule[]> {
      const rows = await database.forAccount(accountId).many<RuleRow>(page, [accountId, before, limit]);
      return rows.map((row) => toRule(row, pricing));
    },
  };
}

interface BegunCreation {
  readonly equivalentRuleId: string | null;
  /** All slots are registered upstream, and the streams of their sources are open. */
  readonly live: boolean;
}

async function begin(
  sql: Sql,
  rule: NewRule,
  refuse: (outcome: BeginOutcome) => never,
): Promise<BegunCreation> {
  if (isPremium(rule.values)) {
    const used = await premiumRulesReached(sql, rule.accountId, rule.premiumRulesMax);
    if (used !== null) refuse({ kind: 'premium_limit', used });
  }
  const equivalentRuleId = await insertRule(sql, rule);
  if (equivalentRuleId !== null && rule.allowsEquivalent === false)
    refuse({ kind: 'equivalent', ruleId: equivalentRuleId });
  let live = true;
  for (const value of rule.values.toSorted((a, b) => (a.platform < b.platform ? -1 : 1))) {
    const placement = await takeSlot(sql, rule, value);
    if (placement.kind !== 'taken') return refuse(placement);
    live &&= placement.live;
  }
  return { equivalentRuleId, live };
}

/** Null if there is something to wait for. */
async function completeAtOnce(
  sql: Sql,
  { live, equivalentRuleId }: BegunCreation,
  completion: Completion,
  activate: Activate,
): Promise<Answer | null> {
  if (!live) return null;
  const [rule] = await activate(sql, [completion]);
  if (!rule) throw new Error('a rule is gone in the transaction that creates it');
  const answer = completion.answer(rule, equivalentRuleId);
  await keepAnswer(sql, completion.change, answer);
  return answer;
}

const isEquivalent = `rules.state not in ('creating', 'deleted') and rules.id <> $1 and (
  select array_agg(v.platform || v.options::text || ' ' || v.translated_value order by v.platform collate "C") from rule_versions v
  where v.rule_id = rules.id and v.version = rules.version) = $5::text[]`;

/**
 * Returns the oldest other rule of the account with the same queries on the same platforms. Unless it is paused, it holds the slots of its
 * queries, so it is among the holders of any one of them. They are compared from the oldest to the first that is equivalent. Runs before
 * slots are taken: a new slot is placed under a lock that other requests wait for.
 */
async function insertRule(sql: Sql, rule: NewRule): Promise<string | null> {
  const { id, accountId, values } = rule;
  const [first] = values;
  if (!first) throw new Error('a rule without a query');
  const compared = values
    .map(
      ({ platform, options = {}, translatedValue }) =>
        `${platform}${JSON.stringify(options)} ${translatedValue}`,
    )
    .toSorted();
  const [found] = await sql.prepared<{ id: string | null }>(
    `with new_rule as (
       insert into rules (id, account_id, created_by, name, intent, state, expires_at, examples, managed_set, managed_key, budget, relevance, alerts,
         judged_position, trial)
       values ($1, $2, $6, $7, $8, 'creating', $9, $10, $11, $12, $13, $14, $15, case when ($14::json->>'judge')::boolean then 0 end, $16)
     )
     select least(
       (select holders.rule_id from (
          select rule_id from slot_holders where account_id = $2 and platform = $3
            and slot_id = (select id from slots where platform = $3 and value_hash = $4)
          order by rule_id offset 0) as holders
        where (select ${isEquivalent} from rules where rules.id = holders.rule_id) limit 1),
       (select rules.id from rules
        where rules.account_id = $2 and rules.state = 'paused' and ${isEquivalent}
        order by rules.id limit 1)) as id`,
    [
      id,
      accountId,
      first.platform,
      valueHash(first.platform, first.translatedValue, first.options),
      compared,
      rule.createdBy,
      rule.name,
      rule.intent,
      rule.expiresAt,
      ...asCodeColumns(rule),
      rule.isTrial ?? false,
    ],
  );
  return found?.id ?? null;
}

type Activation = Pick<Completion, 'change' | 'ruleId'>;

/** Makes rules active and reads them; null for a rule that was abandoned. */
type Activate = (sql: Sql, activations: readonly Activation[]) => Promise<(Rule | null)[]>;

/** A registration completes many creations at once. Those without an idempotency claim are activated in one statement. */
function createActivate(database: Database, activate: Activate) {
  const joined = joinCalls((activations: readonly Activation[]) => activate(database, activations));
  return async (completion: Completion, equivalentRuleId: string | null = null): Promise<Answer | null> => {
    const { change } = completion;
    if (change.claim === null) {
      const rule = await joined(completion);
      return rule && completion.answer(rule, equivalentRuleId);
    }
    return await database.transaction(async (sql) => {
      const [rule] = await activate(sql, [completion]);
      if (!rule) return null;
      const answer = completion.answer(rule, equivalentRuleId);
      await keepAnswer(sql, change, answer);
      return answer;
    });
  };
}

/** Activates rules with their audit, in one statement, and returns their ids. Locks them in id order, so that two batches cannot deadlock. */
async function activateAll(sql: Sql, activations: readonly Activation[]): Promise<string[]> {
  const rows = await sql.prepared<{ id: string }>(
    `with requested as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
         as requested (rule_id, audit_id, actor, operation, request_id)
     ), mine as (
       select id from rules where id = any($1) and state = 'creating' order by id for update
     ), active as (
       update rules set state = 'active' from mine where rules.id = mine.id returning rules.id, account_id, name
     ), new_audit as (
       insert into audit (id, account_id, actor, operation, target_id, before, after, request_id)
       select audit_id, account_id, actor, operation, active.id, null,
         json_build_object('name', name, 'state', 'active'), request_id
       from active join requested on requested.rule_id = active.id
     )
     select id from active`,
    [
      activations.map(({ ruleId }) => ruleId),
      activations.map(() => newId('aud')),
      activations.map(({ change }) => change.actor),
      activations.map(({ change }) => change.operation),
      activations.map(({ change }) => change.requestId),
    ],
  );
  return rows.map(({ id }) => id);
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
  await resolveNotices(sql, {
    types: [
      'rule.paused',
      'rule.expired',
      'rule.refused',
      'budget.threshold',
      'budget.reached',
      'budget.forecast',
    ],
    subject: { kind: 'rule', id: ruleId },
  });
  return answer;
}

async function abandon(sql: Sql, ruleId: string): Promise<void> {
  const mine = await sql.one(`select 1 from rules where id = $1 and state = 'creating' for update`, [ruleId]);
  if (!mine) return;
  await leaveSlots(sql, ruleId);
  // The row stays as deleted, because an event may already have matched it. The purge removes both.
  await sql.run(`update rules set state = 'deleted', deleted_at = now() where id = $1`, [ruleId]);
}
