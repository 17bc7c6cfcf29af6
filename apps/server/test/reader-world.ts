import {
  connectSse,
  type SseConnection,
  type SseEvent,
  startTestNats,
  type Template,
} from '@earshot/testkit';
import { openAdmin } from '../src/admin.ts';
import { startNode } from '../src/compose/node.ts';
import { readConfig } from '../src/config/config.ts';
import { type Bells, createBells } from '../src/engines/bells.ts';
import type { Database } from '../src/engines/database.ts';
import { connectNats } from '../src/engines/nats.ts';
import { createMatchStore } from '../src/matching/match-store.sql.ts';
import { Failure } from '../src/runtime/failure.ts';
import { xEvent, xMatch } from './stream-events.ts';
import { openTestDatabase, seedRules, silentLog } from './support.ts';

/** API nodes on real PostgreSQL and NATS, and matches that are written beside them as match workers write them. */
export interface ReaderWorld extends AsyncDisposable {
  readonly database: Database;
  readonly bells: Bells;
  readonly databaseUrl: string;
  startApi(env?: Record<string, string>): Promise<ReaderApi>;
  /** Writes one match for each rule number, in one transaction, with one event each; sends the wake-up. */
  write(ruleNumbers: readonly number[], options?: WriteOptions): Promise<void>;
  newKey(accountId?: string): Promise<{ key: string; keyId: string }>;
}

interface WriteOptions {
  readonly silent?: boolean;
  /** The commit waits for it, so that later writers may end earlier. */
  readonly beforeCommit?: () => Promise<unknown>;
}

export interface ReaderApi extends AsyncDisposable {
  readonly url: string;
  drain(): void;
  call(
    key: string,
    path: string,
    body: object,
    signal?: AbortSignal,
  ): Promise<{ status: number; json: unknown }>;
  stream(key: string, options: StreamOptions): SseConnection;
}

export interface StreamOptions {
  readonly query?: string;
  readonly lastEventId?: string | null;
  readonly onEvent: (event: SseEvent) => void;
}

export async function startReaderWorld(
  template: Template,
  options: { rules: number; writers?: number; prepare?: (database: Database) => Promise<void> },
): Promise<ReaderWorld> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startTestNats());
  const nats = stack.use(await connectNats(server.url, 'test'));
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url, (options.writers ?? 2) + 2));
  await seedRules(database, options.rules);
  await options.prepare?.(database);
  const admin = stack.use(await openAdmin(clone.url));
  await admin.setPlanLimits('paid', { requests: 1_000_000 });
  const bells = createBells(nats);
  const running = stack.move();
  return {
    database,
    bells,
    databaseUrl: clone.url,
    startApi: (env = {}) => startApi({ databaseUrl: clone.url, natsUrl: server.url, env }),
    write: createWriter(database, bells),
    async newKey(accountId = 'acc_1') {
      const created = await admin.createKey({ accountId });
      if (!created) throw new Error('there is no such account');
      return created;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function createWriter(database: Database, bells: Bells): ReaderWorld['write'] {
  let events = 0;
  return async (ruleNumbers, { beforeCommit, silent = false } = {}) => {
    const posts = ruleNumbers.map((rule) => ({ ...xEvent(events++), rule }));
    const matches = posts.map((post) => xMatch(post, `rule_${post.rule}`));
    const store = createMatchStore(beforeCommit ? withSlowCommit(database, beforeCommit) : database);
    // As match workers do: a failed write is repeated.
    while (!(await store.write(posts, matches, [], []).then(() => true, isPassing)));
    if (!silent) bells.ring('matches');
  };
}

function isPassing(error: unknown): boolean {
  if (error instanceof Failure && (error.code === 'aborted' || error.code === 'unavailable')) return false;
  throw error;
}

function withSlowCommit(database: Database, beforeCommit: () => Promise<unknown>): Database {
  return {
    ...database,
    transaction: (work) =>
      database.transaction(async (sql) => {
        const result = await work(sql);
        // Without a timeout: a transaction that is cancelled would be repeated with other positions.
        await sql.run('set local idle_in_transaction_session_timeout = 0');
        await beforeCommit();
        return result;
      }),
  };
}

async function startApi(on: {
  databaseUrl: string;
  natsUrl: string;
  env: Record<string, string>;
}): Promise<ReaderApi> {
  const config = readConfig({
    EARSHOT_DATABASE_URL: on.databaseUrl,
    EARSHOT_NATS_URL: on.natsUrl,
    EARSHOT_ROLES: 'api',
    EARSHOT_PORT: '0',
    EARSHOT_METRICS_PORT: '0',
    EARSHOT_TEST: 'requestsInFlightMax=1000,streamsPerKeyMax=1000',
    ...on.env,
  });
  const node = await startNode({ config, log: silentLog, checkpoint: () => undefined });
  const url = node.address ?? '';
  return {
    url,
    drain: () => node.drain(),
    async call(key, path, body, signal) {
      const response = await fetch(new URL(path, url), {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: signal ?? null,
      });
      return { status: response.status, json: await response.json() };
    },
    stream: (key, { query = '', lastEventId = null, onEvent }) =>
      connectSse(new URL(`/matches/stream${query}`, url), {
        headers: {
          authorization: `Bearer ${key}`,
          ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
        },
        onEvent,
      }),
    [Symbol.asyncDispose]: () => node[Symbol.asyncDispose](),
  };
}
