import { byOperator, recordChange } from '../accounts/change.ts';
import type { Database, Sql } from '../engines/database.ts';
import { createRuleStore } from '../rules/rule-store.sql.ts';

/*
 * The deletion of an account. It is suspended, and its rules are deleted as usual. When the platforms have none of them any
 * more, its rows are removed in small steps, the account itself last. Each step queries what is left, so it may be interrupted anywhere
 * and run again. A row of `deleted_accounts` remains. A cascade would hold locks on millions of rows, and would leave upstream rules that
 * cost money. The audit is deleted too, because it contains what people wrote.
 */

export type DeletionProgress =
  | { readonly step: 'rules'; readonly left: number }
  /** Slots that the registrars have not removed yet. */
  | { readonly step: 'upstream'; readonly left: number; readonly sources: readonly string[] }
  | { readonly step: 'settling'; readonly seconds: number }
  | { readonly step: 'rows'; readonly table: string; readonly removed: number };

export interface DeletedAccount {
  readonly rules: number;
  /** Rows of all tables. */
  readonly rows: number;
  readonly deletedAt: Date;
}

interface DeletionOptions {
  readonly onProgress?: ((progress: DeletionProgress) => void) | undefined;
  /** After the last upstream rule is removed: longer than a request or a batch of matches that began before takes. */
  readonly settleMs?: number;
  readonly lookMs?: number;
}

const rulesAtOnce = 100;
const rowsAtOnce = 5_000;

/** Null if the account never existed. */
export async function deleteAccount(
  database: Database,
  accountId: string,
  { onProgress = () => undefined, settleMs = 30_000, lookMs = 1_000 }: DeletionOptions = {},
): Promise<DeletedAccount | null> {
  if (!(await database.transaction((sql) => begin(sql, accountId)))) return null;
  const steps = { database, accountId, onProgress, settleMs, lookMs };
  let rules = 0;
  // A request that was in progress may have created another rule.
  for (;;) {
    const deleted = await deleteRules(steps);
    rules += deleted;
    await awaitReleased(steps, deleted > 0);
    await awaitSettled(steps);
    if ((await nextRules(database, accountId)).length === 0) break;
  }
  const rows = await removeRows(steps);
  return { rules, rows, deletedAt: await database.transaction((sql) => removeLast(sql, accountId)) };
}

interface Steps {
  readonly database: Database;
  readonly accountId: string;
  readonly onProgress: (progress: DeletionProgress) => void;
  readonly settleMs: number;
  readonly lookMs: number;
}

/** From here on every node refuses the account's keys. False if there is no such account. */
async function begin(sql: Sql, accountId: string): Promise<boolean> {
  const account = await sql.one('select 1 from accounts where id = $1 for update', [accountId]);
  if (!account)
    return (await sql.one('select 1 from deleted_accounts where account_id = $1', [accountId])) !== null;
  await sql.run('update accounts set suspended_at = coalesce(suspended_at, now()) where id = $1', [
    accountId,
  ]);
  const begun = await sql.run(
    'insert into deleted_accounts (account_id) values ($1) on conflict do nothing',
    [accountId],
  );
  if (begun > 0) {
    const change = byOperator(accountId, 'DeleteAccount');
    await recordChange(sql, change, { targetId: accountId, before: null, after: null, answer: {} });
  }
  return true;
}

interface RuleRow {
  readonly id: string;
  readonly state: string;
}

function nextRules(sql: Sql, accountId: string): Promise<RuleRow[]> {
  return sql.many<RuleRow>(
    `select id, state from rules where account_id = $1 and state <> 'deleted' order by id limit $2`,
    [accountId, rulesAtOnce],
  );
}

/** As usual: each rule leaves its slots, and the registrars remove the upstream rules that no other rule holds. */
async function deleteRules({ database, accountId, onProgress }: Steps): Promise<number> {
  const store = createRuleStore(database);
  let deleted = 0;
  for (;;) {
    const rules = await nextRules(database, accountId);
    if (rules.length === 0) return deleted;
    for (const { id, state } of rules) {
      if (state === 'creating') await store.abandon(id);
      else await store.delete(byOperator(accountId, 'DeleteRule'), id);
    }
    deleted += rules.length;
    const row = await database.one<{ left: number }>(
      `select count(*) as left from rules where account_id = $1 and state <> 'deleted'`,
      [accountId],
    );
    onProgress({ step: 'rules', left: row?.left ?? 0 });
  }
}

/** SQL: slots whose last rule was one of the account, and whose upstream rule is not removed yet. */
const leftBy = (account: string) => `slots.state in ('releasing', 'deleting') and slots.id in (
    select slot_id from rules join rule_versions on rule_versions.rule_id = rules.id where rules.account_id = ${account})
  and not exists (select 1 from slot_holders where slot_id = slots.id)`;

/** If no node is configured with a slot's source any more, its upstream rule cannot be removed: only its rows are. */
async function awaitReleased(steps: Steps, isNew: boolean): Promise<void> {
  const { database, accountId, onProgress, lookMs } = steps;
  for (;;) {
    const waiting = await database.many<{ id: string; slots: number }>(
      `select sources.id, count(*) as slots from slots join sources on sources.id = slots.source_id
       where enabled and ${leftBy('$1')} group by sources.id order by sources.id`,
      [accountId],
    );
    if (waiting.length === 0) break;
    const left = waiting.reduce((sum, { slots }) => sum + slots, 0);
    onProgress({ step: 'upstream', left, sources: waiting.map(({ id }) => id) });
    await wait(lookMs);
  }
  await database.run(`delete from slots where ${leftBy('$1')}`, [accountId]);
  await database.run(
    'update deleted_accounts set released_at = case when $2 then now() else coalesce(released_at, now()) end where account_id = $1',
    [accountId, isNew],
  );
}

/** Waits for everything that began before the account was suspended, or before its last rule was removed. */
async function awaitSettled({ database, accountId, onProgress, settleMs, lookMs }: Steps): Promise<void> {
  for (;;) {
    const row = await database.one<{ ms: number }>(
      `select $2 - extract(epoch from now() - released_at)::float8 * 1000 as ms from deleted_accounts where account_id = $1`,
      [accountId, settleMs],
    );
    const leftMs = row?.ms ?? 0;
    if (leftMs <= 0) return;
    onProgress({ step: 'settling', seconds: Math.ceil(leftMs / 1_000) });
    await wait(Math.min(leftMs, 10 * lookMs));
  }
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Tables that are needed to find other rows, or that other rows reference: removed last, in this order. */
const last = ['webhooks', 'rules', 'audit', 'api_keys'];
const keptForLater = ['accounts', 'deleted_accounts'];

/**
 * Removes rows from every table with a column `account_id`, found in the catalogue so that tables of later migrations are included.
 * Also from tables that name the account or its webhooks in another way. Returns how many rows.
 */
async function removeRows(steps: Steps): Promise<number> {
  const { database, accountId, onProgress } = steps;
  const tables = await tablesOfAccounts(database);
  const remove = async (table: string, statement: string): Promise<number> => {
    let removed = 0;
    for (;;) {
      const some = await database.run(statement, [accountId, rowsAtOnce]);
      if (some === 0) return removed;
      removed += some;
      onProgress({ step: 'rows', table, removed });
    }
  };
  let rows = await remove('deliveries', deleteDeliveries);
  rows += await removeMatches(steps);
  await database.run(
    'update upstream_calls set accounts = array_remove(accounts, $1) where $1 = any(accounts)',
    [accountId],
  );
  for (const table of [...tables.filter((name) => !last.includes(name)), ...last])
    rows += await remove(table, table === 'bill_shares' ? giveUpShares : deleteSome(table));
  return rows;
}

async function tablesOfAccounts(sql: Sql): Promise<string[]> {
  const tables = await sql.many<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and not c.relispartition
       and a.attname = 'account_id' and not a.attisdropped and not c.relname = any($1)
     order by c.relname`,
    [keptForLater],
  );
  return tables.map(({ name }) => name);
}

const someOf = (table: string, which = 'account_id = $1') =>
  `ctid = any(array(select ctid from ${table} where ${which} limit $2))`;

const deleteSome = (table: string) => `delete from ${table} where ${someOf(table)}`;

/** Deliveries outlive their webhook. The audit has every webhook of the account. */
const deleteDeliveries = `delete from deliveries where ${someOf(
  'deliveries',
  `webhook_id in (select id from webhooks where account_id = $1
     union select target_id from audit where account_id = $1 and target_id like 'whk\\_%')`,
)}`;

/** The account's parts of the bill become parts of no account, so that the parts still add up. */
const giveUpShares = `with gone as (
    delete from bill_shares where ${someOf('bill_shares')} returning *
  )
  insert into bill_shares as kept (day, source_id, kind, account_id, rule_id, at_least, at_most)
  select day, source_id, kind, '', '', sum(at_least), sum(at_most) from gone group by day, source_id, kind
  on conflict (day, source_id, kind, rule_id) do update
    set at_least = kept.at_least + excluded.at_least, at_most = kept.at_most + excluded.at_most`;

/** Day by day, because a partitioned table has no row ids across partitions. Posts belong to no account, and stay. */
async function removeMatches({ database, accountId, onProgress }: Steps): Promise<number> {
  let removed = 0;
  for (;;) {
    const next = await database.one<{ day: string }>(
      'select event_day::text as day from matches where account_id = $1 limit 1',
      [accountId],
    );
    if (!next) return removed;
    removed += await database.run(
      `delete from matches where event_day = $3
         and ctid = any(array(select ctid from matches where event_day = $3 and account_id = $1 limit $2))`,
      [accountId, rowsAtOnce, next.day],
    );
    onProgress({ step: 'rows', table: 'matches', removed });
  }
}

async function removeLast(sql: Sql, accountId: string): Promise<Date> {
  await sql.run('delete from accounts where id = $1', [accountId]);
  const row = await sql.one<{ deleted_at: Date }>(
    `update deleted_accounts set deleted_at = coalesce(deleted_at, now()) where account_id = $1 returning deleted_at`,
    [accountId],
  );
  return row?.deleted_at ?? new Date();
}
