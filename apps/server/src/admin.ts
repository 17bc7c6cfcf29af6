import { type Budget, type Scope, scopes } from '@earshot/contract';
import { byOperator, recordChange } from './accounts/change.ts';
import { createKeyStore, type KeyStore, newKey } from './accounts/keys.ts';
import {
  type AccountRow,
  createAccount,
  type NewLimits,
  type PlanRow,
  readAccounts,
  readPlans,
  resumeAccount,
  setLimits,
  setPlan,
  setPlanLimits,
  suspendAccount,
} from './accounts/manage-accounts.ts';
import type { AccountLimits, PlanName } from './accounts/plans.ts';
import { defaultPrices, type Prices, readPrices, roundUsd, type Usd } from './billing/prices.ts';
import { type BillLine, readBillByAccount, readBillBySource } from './billing/read-bill.ts';
import { aesKeys } from './config/values.ts';
import { loseLog } from './coverage/lost-log.ts';
import { type Database, openDatabase, type Sql } from './engines/database.ts';
import { forgetCursorSecret, rotateCursorSecret } from './engines/installation.ts';
import { assertMigrated } from './engines/migrate.ts';
import { bindLog } from './event-log/bound-log.ts';
import { createDeadLetters, type DeadLetterRow } from './matching/dead-letters.ts';
import { type DeletedAccount, type DeletionProgress, deleteAccount } from './removals/delete-account.ts';
import { type ForgetRequest, forget, type Progress } from './removals/forget.ts';
import type { RemovalCounts } from './removals/remove-items.ts';
import { newId } from './runtime/ids.ts';
import { type ReencryptionResult, reencrypt } from './webhooks/reencrypt.ts';
import { createSecretBox } from './webhooks/secrets.ts';

export { listForeignRules } from './compose/foreign-rules.ts';
export { readSetting } from './config/config.ts';
export { migrate, planMigrations } from './engines/migrate.ts';

/** Commands that an operator runs directly on the database, also before there is a key for the API. */
export interface Admin extends AsyncDisposable {
  createAccount(account: { name: string; plan?: PlanName }): Promise<{ accountId: string }>;
  /** All accounts, or the named one, with their activity in the last UTC days. */
  listAccounts(request: {
    accountId?: string;
    days: number;
    prices?: string | undefined;
  }): Promise<readonly ListedAccount[]>;
  /** False or null when there is no such account. */
  setPlan(accountId: string, plan: PlanName): Promise<boolean>;
  setLimits(accountId: string, limits: NewLimits): Promise<Partial<AccountLimits> | null>;
  listPlans(): Promise<PlanRow[]>;
  /** Every node applies them within 5 seconds. */
  setPlanLimits(plan: PlanName, limits: Partial<AccountLimits>): Promise<PlanRow>;
  suspendAccount(accountId: string): Promise<boolean>;
  resumeAccount(accountId: string): Promise<boolean>;
  /** Deletes everything that belongs to the account. Null when there is no such account. Nodes must be running. */
  deleteAccount(
    accountId: string,
    onProgress?: (progress: DeletionProgress) => void,
  ): Promise<DeletedAccount | null>;
  /** The answer is the only place that has the key. Null when there is no such account. */
  createKey(key: {
    accountId: string;
    name?: string;
    scopes?: readonly Scope[];
    expiresAt?: Date;
    budget?: Budget;
  }): Promise<{ keyId: string; key: string } | null>;
  revokeKey(keyId: string): Promise<boolean>;
  /** The budget of all rules of the account together. Null when there is no such account. */
  readBudget(accountId: string): Promise<{ budget: Budget | null } | null>;
  setBudget(accountId: string, budget: Budget | null): Promise<{ budget: Budget | null } | null>;
  /** The upstream rules, newest first; of all rules if the id is null. */
  listUpstreamRules(ruleId: string | null): Promise<UpstreamRuleRow[]>;
  /** Events that could not be stored, newest first. */
  listDeadLetters(): Promise<DeadLetterRow[]>;
  /** Removes stored items and their matches, and prevents that they are stored again. Nodes may be running. */
  forget(request: ForgetRequest, onProgress?: (progress: Progress) => void): Promise<RemovalCounts>;
  /** What the upstreams billed in the last UTC days, including today; `prices` as in EARSHOT_PRICES. */
  listBill(request: {
    by: 'source' | 'account';
    days: number;
    prices?: string | undefined;
  }): Promise<{ lines: BillLine[]; prices_as_of: string }>;
  /** Records that PostgreSQL or NATS was restored, which Earshot cannot always detect. All nodes must be stopped. */
  afterRestore(restore: { logLost: boolean; isCopy: boolean }): Promise<{ webhooksPaused: number }>;
  /** Seals the secrets of webhooks with the first of these keys, as in EARSHOT_SECRETS_KEY. Nodes may be running. */
  reencrypt(secretsKey: string): Promise<ReencryptionResult>;
  /** False when the last rotation is not known to every node yet. */
  rotateCursorSecret(): Promise<boolean>;
  forgetCursorSecret(): Promise<boolean>;
  /** Requests a retry of one dead letter, or of all if the id is null. A node with the role `match` retries them. Returns how many. */
  retryDeadLetters(id: number | null): Promise<number>;
}

export interface ListedAccount extends AccountRow {
  readonly usd: Usd;
}

/** A rule and the upstream rule that serves it. Accounts see `platform_rule_id`; the platform uses `upstream_rule_id`. */
export interface UpstreamRuleRow {
  readonly rule_id: string;
  readonly account_id: string;
  readonly platform: string;
  readonly platform_rule_id: string;
  readonly upstream_rule_id: string | null;
  readonly source_id: string;
  readonly state: string;
  readonly value: string;
}

const upstreamRulesMax = 1_000;

export async function openAdmin(databaseUrl: string): Promise<Admin> {
  await assertMigrated(databaseUrl);
  const database = openDatabase({ url: databaseUrl, connectionsMax: 1, onIdleError: () => undefined });
  const keys = createKeyStore(database);
  const letters = createDeadLetters(database);
  return {
    createAccount: ({ name, plan = 'paid' }) => createAccount(database, { name, plan }),
    listAccounts: (request) => listAccounts(database, request),
    setPlan: (accountId, plan) => setPlan(database, accountId, plan),
    setLimits: (accountId, limits) => setLimits(database, accountId, limits),
    listPlans: () => readPlans(database),
    setPlanLimits: (plan, limits) => setPlanLimits(database, plan, limits),
    suspendAccount: (accountId) => suspendAccount(database, accountId),
    resumeAccount: (accountId) => resumeAccount(database, accountId),
    deleteAccount: (accountId, onProgress) => deleteAccount(database, accountId, { onProgress }),
    createKey: (request) => createKey(keys, request),
    async revokeKey(keyId) {
      const row = await database.one<{ account_id: string }>(
        'select account_id from api_keys where id = $1',
        [keyId],
      );
      if (!row) return false;
      return (await keys.revokeKey(byOperator(row.account_id, 'RevokeKey'), keyId)) !== null;
    },
    readBudget: (accountId) => database.one('select budget from accounts where id = $1', [accountId]),
    setBudget: (accountId, budget) => database.transaction((sql) => setBudget(sql, accountId, budget)),
    listUpstreamRules: (ruleId) =>
      database.many<UpstreamRuleRow>(
        `select v.rule_id, holders.account_id, v.platform, v.platform_rule_id, slots.upstream_rule_id, slots.source_id,
           slots.state, slots.value
         from slot_holders holders join slots on slots.id = holders.slot_id
         join rule_versions v on v.rule_id = holders.rule_id and v.version = holders.rule_version
           and v.slot_id = holders.slot_id
         where $1::text is null or v.rule_id = $1
         order by v.rule_id desc, v.platform desc limit $2`,
        [ruleId, upstreamRulesMax],
      ),
    afterRestore: (restore) => database.transaction((sql) => afterRestore(sql, restore)),
    forget: (request, onProgress) => forget(database, request, onProgress),
    async listBill({ by, days, prices: text }) {
      const prices = pricesOf(text);
      const read = by === 'source' ? readBillBySource : readBillByAccount;
      return { lines: await read(database, days, prices), prices_as_of: prices.as_of };
    },
    async reencrypt(text) {
      const keys = aesKeys.safeParse(text);
      if (!keys.success) throw new Error('EARSHOT_SECRETS_KEY has a bad value.');
      const [key, ...older] = keys.data;
      return await reencrypt(database, createSecretBox(key, older));
    },
    rotateCursorSecret: () => rotateCursorSecret(database),
    forgetCursorSecret: () => forgetCursorSecret(database),
    listDeadLetters: () => letters.list(),
    retryDeadLetters: (id) => letters.requestRetry(id),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

function pricesOf(text: string | undefined): Prices {
  const prices = text ? readPrices(text) : defaultPrices();
  if (typeof prices === 'string') throw new Error(`EARSHOT_PRICES has a bad value: ${prices}.`);
  return prices;
}

async function listAccounts(
  database: Database,
  { accountId, days, prices }: Parameters<Admin['listAccounts']>[0],
): Promise<ListedAccount[]> {
  const accounts = await readAccounts(database, { ...(accountId !== undefined && { accountId }), days });
  const bill = await readBillByAccount(database, days, pricesOf(prices));
  return accounts.map((account) => {
    const own = bill.filter(({ account_id }) => account_id === account.id);
    const sum = (bound: keyof Usd) => own.reduce((total, { usd }) => total + usd[bound], 0);
    return { ...account, usd: roundUsd({ min: sum('min'), max: sum('max') }) };
  });
}

async function createKey(
  keys: KeyStore,
  { accountId, name, scopes: granted = scopes, expiresAt, budget }: Parameters<Admin['createKey']>[0],
): Promise<{ keyId: string; key: string } | null> {
  const key = newKey();
  const keyId = newId('key');
  const outcome = await keys.createKey(byOperator(accountId, 'CreateKey'), key, {
    id: keyId,
    callingKeyId: null,
    name: name ?? null,
    scopes: granted,
    expiresAt: expiresAt ?? null,
    budget: budget ?? null,
    keysMax: null,
  });
  return outcome.kind === 'created' ? { keyId, key: key.key } : null;
}

async function afterRestore(
  sql: Sql,
  { logLost, isCopy }: { logLost: boolean; isCopy: boolean },
): Promise<{ webhooksPaused: number }> {
  // The next match begins a new incarnation.
  await sql.run('update match_log set server = null');
  await sql.run('update notice_log set server = null');
  if (logLost || isCopy) {
    await loseLog(sql);
    await bindLog(sql, null);
  }
  if (!isCopy) return { webhooksPaused: 0 };
  // A copy gets its own upstream tags and cursors, and processes that listen to the original get nothing from it.
  await sql.run(
    `update installation set id = substr(replace(gen_random_uuid()::text, '-', ''), 1, 12),
       cursor_secret = decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'),
       previous_cursor_secret = null, cursor_secret_since = null`,
  );
  await sql.run(
    `update archives set next_attempt_at = 'infinity', failing_since = now(),
       problem = 'The archive stopped because the installation is a copy. Create the archive again under another prefix.'`,
  );
  return { webhooksPaused: await sql.run(`update webhooks set state = 'paused' where state = 'active'`) };
}

/** The account's budgets are checked again: some rules may have to be paused, others may be resumed. */
async function setBudget(
  sql: Sql,
  accountId: string,
  budget: Budget | null,
): Promise<{ budget: Budget | null } | null> {
  const before = await sql.one<{ budget: Budget | null }>(
    'select budget from accounts where id = $1 for update',
    [accountId],
  );
  if (!before) return null;
  await sql.run('update accounts set budget = $2 where id = $1', [
    accountId,
    budget && JSON.stringify(budget),
  ]);
  await sql.run(
    `update rules set budget_check_at = now()
     where account_id = $1 and (state in ('active', 'failed') or pause_reason = 'budget' and state = 'paused')`,
    [accountId],
  );
  await recordChange(sql, byOperator(accountId, 'SetBudget'), {
    targetId: accountId,
    before,
    after: { budget },
    answer: {},
  });
  return { budget };
}
