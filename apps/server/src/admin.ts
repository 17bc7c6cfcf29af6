import { type Scope, scopes } from '@earshot/contract';
import type { Change } from './accounts/change.ts';
import { createKeyStore, newKey } from './accounts/keys.ts';
import type { PlanName } from './accounts/plans.ts';
import { loseLog } from './coverage/upkeep.ts';
import { openDatabase, type Sql } from './engines/database.ts';
import { assertMigrated } from './engines/migrate.ts';
import { bindLog } from './event-log/bound-log.ts';
import { createDeadLetters, type DeadLetterRow } from './matching/dead-letters.ts';
import { listVerdicts, type VerdictRow } from './matching/verdicts.ts';
import { defaultPrices, readPrices } from './metering/prices.ts';
import { type BillLine, readBillByAccount, readBillBySource } from './metering/read-bill.ts';
import { type Asked, forget, type Progress, type Removed } from './removals/remove-items.ts';
import { newId } from './runtime/ids.ts';

export { listForeignRules } from './compose/foreign-rules.ts';
export { migrate, planMigrations } from './engines/migrate.ts';

/** What an operator does directly on the database, before there is any key to do it over HTTP. */
export interface Admin extends AsyncDisposable {
  createAccount(account: { name: string; plan?: PlanName }): Promise<{ accountId: string }>;
  /** The key is in the answer and nowhere else. Null when there is no such account. */
  createKey(key: {
    accountId: string;
    scopes?: readonly Scope[];
    expiresAt?: Date;
  }): Promise<{ keyId: string; key: string } | null>;
  revokeKey(keyId: string): Promise<boolean>;
  /** What the upstreams have, the newest rules first; all rules without an id. */
  listUpstreamRules(ruleId: string | null): Promise<UpstreamRuleRow[]>;
  /** Events that could not be stored, the newest first. */
  listDeadLetters(): Promise<DeadLetterRow[]>;
  /** Removes stored items and their matches, and keeps them from being stored again. Nodes may be running. */
  forget(asked: Asked, onProgress?: (progress: Progress) => void): Promise<Removed>;
  /** How our verdicts on sampled items compare with the platforms', over the last days, today included. */
  listVerdicts(days: number): Promise<VerdictRow[]>;
  /** What the upstreams billed in the last UTC days, today included; `prices` as in EARSHOT_PRICES. */
  listBill(asked: {
    by: 'source' | 'account';
    days: number;
    prices?: string | undefined;
  }): Promise<{ lines: BillLine[]; prices_as_of: string }>;
  /** What the service cannot see by itself after PostgreSQL or NATS was restored. All nodes must be stopped. */
  afterRestore(restore: { logLost: boolean; isCopy: boolean }): Promise<{ webhooksPaused: number }>;
  /** All of them without an id. A node with the role `match` tries each once more; returns how many. */
  retryDeadLetters(id: number | null): Promise<number>;
}

/** A rule and the upstream rule that serves it. Accounts see `platform_rule_id`; the upstream says `upstream_rule_id`. */
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
    async createAccount({ name, plan = 'paid' }) {
      const accountId = newId('acc');
      await database.run('insert into accounts (id, name, plan) values ($1, $2, $3)', [
        accountId,
        name,
        plan,
      ]);
      return { accountId };
    },
    async createKey({ accountId, scopes: granted = scopes, expiresAt }) {
      const key = newKey();
      const keyId = newId('key');
      const outcome = await keys.createKey(byOperator(accountId, 'CreateKey'), key, {
        id: keyId,
        askedBy: null,
        scopes: granted,
        expiresAt: expiresAt ?? null,
        keysMax: null,
      });
      return outcome.kind === 'created' ? { keyId, key: key.key } : null;
    },
    async revokeKey(keyId) {
      const row = await database.one<{ account_id: string }>(
        'select account_id from api_keys where id = $1',
        [keyId],
      );
      if (!row) return false;
      return (await keys.revokeKey(byOperator(row.account_id, 'RevokeKey'), keyId)) !== null;
    },
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
    forget: (asked, onProgress) => forget(database, asked, onProgress),
    listVerdicts: (days) => listVerdicts(database, days),
    async listBill({ by, days, prices: text }) {
      const prices = text ? readPrices(text) : defaultPrices();
      if (typeof prices === 'string') throw new Error(`EARSHOT_PRICES has a bad value: ${prices}.`);
      const read = by === 'source' ? readBillBySource : readBillByAccount;
      return { lines: await read(database, days, prices), prices_as_of: prices.as_of };
    },
    listDeadLetters: () => letters.list(),
    retryDeadLetters: (id) => letters.requestRetry(id),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

async function afterRestore(
  sql: Sql,
  { logLost, isCopy }: { logLost: boolean; isCopy: boolean },
): Promise<{ webhooksPaused: number }> {
  // The next match begins a new incarnation.
  await sql.run('update match_log set server = null');
  if (logLost || isCopy) {
    await loseLog(sql);
    await bindLog(sql, null);
  }
  if (!isCopy) return { webhooksPaused: 0 };
  // Its tags upstream and its cursors are its own from now on, and those who listen to the original hear nothing from it.
  await sql.run(
    `update installation set id = substr(replace(gen_random_uuid()::text, '-', ''), 1, 12),
       cursor_secret = decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')`,
  );
  return { webhooksPaused: await sql.run(`update webhooks set state = 'paused' where state = 'active'`) };
}

function byOperator(accountId: string, operation: string): Change {
  return { accountId, actor: 'operator', operation, requestId: null, claim: null };
}
