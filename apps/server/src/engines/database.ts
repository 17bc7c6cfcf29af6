import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Metrics } from '../observability/metrics.ts';
import { DatabaseUnreachable, Failure } from '../runtime/failure.ts';

/** Runs SQL: on the pool, or inside a transaction. */
export interface Sql {
  many<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  one<Row>(text: string, values?: readonly unknown[]): Promise<Row | null>;
  /** Like `many`, planned once per connection: for statements whose planning costs more than their work. */
  prepared<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
  /** Number of rows the statement changed. */
  run(text: string, values?: readonly unknown[]): Promise<number>;
}

export interface Transactions {
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
}

/** Outside of a transaction, an account may only read: those transactions are read-only. */
export interface AccountSql extends Transactions, Pick<Sql, 'many' | 'one' | 'prepared'> {
  /**
   * Runs statements on one snapshot. `generic` plans them without their values. `by_rows` also prefers the plan that reads the
   * fewest rows, wherever they are stored.
   */
  snapshot<Result>(
    read: (sql: Sql) => Promise<Result>,
    options?: { plans?: 'generic' | 'by_rows' },
  ): Promise<Result>;
}

export interface Database extends Sql, Transactions, AsyncDisposable {
  /**
   * Transactions for one account, under a role to which PostgreSQL shows no rows of other accounts (I7). Statements still name the
   * account; row security protects against a statement that forgets to. With a separate login, that role cannot change back to
   * another, not even with injected SQL: it could only name another account, whose id it cannot find out there.
   */
  forAccount(accountId: string): AccountSql;
  /**
   * For changes of an account's rules, which take and leave slots that other accounts hold as well. Row security applies to all rows
   * of accounts, but not to slots.
   */
  forRuleChange(accountId: string): Transactions;
}

export interface DatabaseOptions {
  readonly url: string;
  /** The login for `forAccount`; if undefined, the login of `url` with `set role`. */
  readonly accountUrl?: string | undefined;
  readonly connectionsMax: number;
  /** Default: 30 s; 0 disables it. */
  readonly statementTimeoutMs?: number;
  readonly onIdleError: (error: Error) => void;
  /** Called when PostgreSQL becomes unreachable or reachable. */
  readonly onChange?: (change: DatabaseChange) => void;
  /** Enables metrics; `name` is that of the pool. */
  readonly measure?: { readonly name: string; readonly metrics: DatabaseMetrics } | undefined;
}

type DatabaseChange = { readonly isConnected: true } | { readonly isConnected: false; readonly err: Error };

/**
 * The most connections that a node opens: per server login, and for the owner's login on nodes with the role `match`. Operators size
 * `max_connections` by it (docs/operations/several-nodes.md).
 */
export const nodeConnections = { perLogin: 16, owner: 2 };

type DatabaseMetrics = Pick<Metrics, 'pools' | 'statementSeconds' | 'connectionWaitSeconds'>;

/** int8 as a number: positions stay far below 2^53, and a string would sort wrongly. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export function openDatabase(options: DatabaseOptions): Database {
  const { url, accountUrl } = options;
  const { name = '', metrics } = options.measure ?? {};
  const pool = openPool(url, options, name);
  const accountPool = accountUrl === undefined ? pool : openPool(accountUrl, options, 'account');
  const link = createLink(options.onChange ?? (() => undefined));
  const watched = { metrics, link };
  const own = transactionsOf(pool, watched);
  const accounts = transactionsOf(accountPool, watched);
  return {
    ...sqlOver(pool, watched),
    transaction: (work) => own.transactionAfter('begin', work),
    forAccount(accountId) {
      const as = `${accountUrl === undefined ? 'set local role earshot_account; ' : ''}${account(accountId)}`;
      const reading = `begin read only; ${as}`;
      return {
        snapshot: (read, { plans } = {}) =>
          accounts.readAfter(
            `begin isolation level repeatable read read only; ${as}${plans ? planning[plans] : ''}`,
            read,
          ),
        transaction: (work) => accounts.transactionAfter(`begin; ${as}`, work),
        many: (text, values) => accounts.readAfter(reading, (sql) => sql.many(text, values)),
        one: (text, values) => accounts.readAfter(reading, (sql) => sql.one(text, values)),
        prepared: (text, values) => accounts.readAfter(reading, (sql) => sql.prepared(text, values)),
      };
    },
    forRuleChange: (accountId) => ({
      transaction: (work) =>
        own.transactionAfter(`begin; set local role earshot_rules; ${account(accountId)}`, work),
    }),
    async [Symbol.asyncDispose]() {
      await Promise.all([pool.end(), accountPool === pool ? null : accountPool.end()]);
    },
  };
}

const generic = '; set local plan_cache_mode = force_generic_plan';

/** A planner prefers many adjacent rows to a few scattered ones. With free page costs, it counts rows only. */
const planning = {
  generic,
  by_rows: `${generic}; set local seq_page_cost = 0; set local random_page_cost = 0`,
};

/** Local to the transaction, so that a pooled connection does not keep it. */
function account(id: string): string {
  return `set local earshot.account = ${pg.escapeLiteral(id)}`;
}

function openPool(connectionString: string, options: DatabaseOptions, name: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: withoutJit(connectionString),
    max: options.connectionsMax,
    application_name: 'earshot',
    connectionTimeoutMillis: 10_000,
    // A new connection plans every statement again, so connections survive pauses between bursts.
    idleTimeoutMillis: 300_000,
    // Some prepared statements name a day. They must not accumulate for months.
    maxLifetimeSeconds: 86_400,
    statement_timeout: options.statementTimeoutMs ?? 30_000,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
  });
  pool.on('error', options.onIdleError);
  // The pool does not listen for errors of a client that is checked out, and an "error" event without a listener ends
  // the process. The current statement, or the next one, is rejected in any case.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const use = () => ({
    busy: pool.totalCount - pool.idleCount,
    idle: pool.idleCount,
    waiting: pool.waitingCount,
  });
  options.measure?.metrics.pools.push({ name, use });
  return pool;
}

/**
 * Earshot runs many short statements: compiling one costs more than it saves, and a planner without statistics often compiles. Set
 * in the URL, because `options` of the URL replace any others. Earshot's options are first, so that the operator's take precedence.
 */
export function withoutJit(connectionString: string): string {
  const url = new URL(connectionString);
  const theirs = url.searchParams.get('options');
  url.searchParams.set('options', theirs ? `-c jit=off ${theirs}` : '-c jit=off');
  return url.href;
}

/** What the statements of a database report to. */
interface StatementWatch {
  readonly metrics: DatabaseMetrics | undefined;
  readonly link: Link;
}

function transactionsOf(pool: pg.Pool, watched: StatementWatch) {
  const { metrics, link } = watched;
  const connect = async () => {
    const waited = metrics?.connectionWaitSeconds.startTimer();
    const startedAt = performance.now();
    const client = await pool.connect().catch((error: unknown) => link.fail(error, startedAt));
    waited?.();
    return client;
  };
  const transactionAfter = async <Result>(opening: string, work: (sql: Sql) => Promise<Result>) => {
    const startedAt = performance.now();
    const client = await connect();
    try {
      await client.query(opening);
      const result = await work(sqlOver(client, watched));
      await client.query('commit');
      client.release();
      return result;
    } catch (error) {
      // A connection whose rollback fails is broken: destroy it instead of returning it to the pool.
      await client.query('rollback').then(
        () => client.release(),
        () => client.release(true),
      );
      return link.fail(error, startedAt);
    }
  };
  const readAfter = async <Result>(opening: string, read: (sql: Sql) => Promise<Result>) => {
    const startedAt = performance.now();
    const client = await connect();
    const end = () =>
      void client.query('rollback').then(
        () => client.release(),
        () => client.release(true),
      );
    try {
      await client.query(opening);
      return await read(sqlOver(client, watched));
    } catch (error) {
      // A write in a read-only transaction is a bug in Earshot.
      if (error instanceof Failure && isReadOnly(error.cause)) throw error.cause;
      return link.fail(error, startedAt);
    } finally {
      // A read has nothing to commit, so the caller does not wait for the end of its transaction.
      end();
    }
  };
  return { transactionAfter, readAfter };
}

/** Thrown to roll the transaction back; `refusable` catches it. */
class Refusal extends Error {}

/** Runs a transaction that may be refused: it is then rolled back, and the outcome given to `refuse` is the result. */
export async function refusable<Outcome extends object>(
  database: Transactions,
  work: (sql: Sql, refuse: (outcome: Outcome) => never) => Promise<Outcome>,
): Promise<Outcome> {
  let refused: Outcome | null = null;
  const refuse = (outcome: Outcome): never => {
    refused = outcome;
    throw new Refusal('refused');
  };
  try {
    return await database.transaction((sql) => work(sql, refuse));
  } catch (error) {
    if (error instanceof Refusal && refused !== null) return refused;
    throw error;
  }
}

const triesMax = 5;

/** Retries at once if the transaction was rolled back because of a conflict with another one. */
export async function retryOnConflict<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === triesMax || !(error instanceof Failure) || error.code !== 'aborted') throw error;
    }
  }
}

function sqlOver(client: pg.Pool | pg.PoolClient, { metrics, link }: StatementWatch): Sql {
  const query = async (text: string, values: readonly unknown[] = [], name?: string) => {
    const startedAt = performance.now();
    try {
      const result = await client.query({ text, values: [...values], ...(name !== undefined && { name }) });
      link.succeed(startedAt);
      return result;
    } catch (error) {
      return link.fail(error, startedAt);
    } finally {
      metrics?.statementSeconds.observe((performance.now() - startedAt) / 1000);
    }
  };
  return {
    many: async (text, values) => (await query(text, values)).rows,
    prepared: async (text, values) => (await query(text, values, statementName(text))).rows,
    one: async (text, values) => (await query(text, values)).rows[0] ?? null,
    run: async (text, values) => (await query(text, values)).rowCount ?? 0,
  };
}

/** There are few distinct statements, and each runs often. */
const statementNames = new Map<string, string>();

function statementName(text: string): string {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 20);
  statementNames.set(text, name);
  return name;
}

/** SQLSTATEs and socket errors of a server that is down, starting, stopping or unreachable. */
const away = /^(08|57P0[1-3]|ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)/;
/** SQLSTATE classes after which a retry may work: timeout, too many connections, and a standby, which is read-only. */
const transient = /^(57|53|25006)/;
/** Serialization failures and deadlocks: the transaction was rolled back. */
const conflicting = /^40/;

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');
const says = (error: unknown, words: RegExp) => error instanceof Error && words.test(error.message);

const isReadOnly = (error: unknown) => codeOf(error) === '25006';

type Link = ReturnType<typeof createLink>;

/** Tracks whether PostgreSQL can be reached by the outcome of statements. Sends no extra queries. */
export function createLink(onChange: NonNullable<DatabaseOptions['onChange']>) {
  let lostAt: number | null = null;
  let succeededAt = 0;
  return {
    succeed(startedAt: number): void {
      succeededAt = performance.now();
      // An answer to a statement from before the outage may arrive after its first error.
      if (lostAt === null || startedAt < lostAt) return;
      lostAt = null;
      onChange({ isConnected: true });
    },
    /** Throws the failure for an error of a statement. */
    fail(error: unknown, startedAt: number): never {
      // If other statements succeed, the pool is exhausted; if none does, PostgreSQL hangs.
      const hangs = says(error, /timeout exceeded when trying to connect/i) && succeededAt < startedAt;
      if (hangs || away.test(codeOf(error)) || says(error, /terminated|not queryable/i)) {
        if (lostAt === null && error instanceof Error) onChange({ isConnected: false, err: error });
        lostAt ??= performance.now();
        throw new DatabaseUnreachable(error);
      }
      return rethrow(error);
    },
  };
}

function rethrow(error: unknown): never {
  if (conflicting.test(codeOf(error))) {
    throw new Failure('aborted', 'The request conflicts with a concurrent change. Send it again.', {
      details: { reason: 'conflict' },
      cause: error,
    });
  }
  const isExhausted = says(error, /timeout exceeded when trying to connect/i);
  if (!transient.test(codeOf(error)) && !isExhausted) throw error;
  throw new Failure('unavailable', 'The database is overloaded or read-only. Try again in a few seconds.', {
    details: { reason: 'overloaded' },
    retryAfterSeconds: 5,
    cause: error,
  });
}

/** The OID of `text` in PostgreSQL's catalogue. */
const textOid = 25;
const headerBytes = 20;

/**
 * A `text[]` in PostgreSQL's binary format, for long values. The driver would write an array as one text and escape every quotation
 * mark, of which JSON has many. In the statement the parameter needs its cast, `$1::text[]`.
 */
export function textArray(values: readonly string[]): Buffer {
  const texts = values.map((value) => Buffer.from(value));
  const bytes = texts.reduce((sum, text) => sum + 4 + text.length, headerBytes);
  const array = Buffer.allocUnsafe(bytes);
  // One dimension, no nulls, the type of the elements, their number, and the index of the first.
  const header = [1, 0, textOid, texts.length, 1];
  let at = 0;
  for (const field of header) at = array.writeInt32BE(field, at);
  for (const text of texts) {
    at = array.writeInt32BE(text.length, at);
    at += text.copy(array, at);
  }
  return array;
}
