import { AckPolicy, type JsMsg, jetstream, jetstreamManager, StorageType } from '@nats-io/jetstream';
import { connect, type NatsConnection, nanos } from '@nats-io/transport-node';
import pg from 'pg';
import { openDatabase } from '../../apps/server/src/engines/database.ts';
import type { LogEvent } from '../../apps/server/src/event-log/event-log.ts';
import { type Holder, matchEvents } from '../../apps/server/src/matching/match-events.ts';
import { createMatchStore, type MatchStore } from '../../apps/server/src/matching/match-store.sql.ts';
import type { storyItemOf } from '../../apps/server/src/stories/story-keys.ts';
import type { Engines } from '../start-engines.ts';

/** As in the server: events in flight, messages per transaction, consumers. */
const windowMax = 256;
const batchMax = 1_000;
const consumers = 2;

export interface BareOptions {
  /** Names its stream and its database, which `copyDatabase` has created. */
  readonly name: string;
  readonly eventsPerMessage: number;
  readonly replicas: number;
  readonly installation: string;
  readonly holders: readonly Holder[];
  /** For `bench/stories.ts`. */
  readonly findStoryItem?: typeof storyItemOf | undefined;
}

/**
 * The baseline: a plain client publishes, consumes and stores the same events with the server's own statements, in a separate
 * database. No upstream, no parsing of items, no evaluator, no retries, no metrics.
 */
export async function openBarePath(engines: Engines, options: BareOptions) {
  const { name, eventsPerMessage, replicas } = options;
  await using stack = new AsyncDisposableStack();
  const connection = await connect({
    servers: engines.nats.url.split(','),
    ignoreClusterUpdates: true,
    noAsyncTraces: true,
  });
  stack.defer(() => connection.close());
  const database = stack.use(
    openDatabase({
      url: urlOf(engines.postgresUrl, name),
      connectionsMax: consumers,
      onIdleError: () => undefined,
    }),
  );
  const manager = await jetstreamManager(connection);
  await manager.streams.add({
    name,
    subjects: [name],
    num_replicas: replicas,
    storage: StorageType.File,
    duplicate_window: nanos(600_000),
  });
  await manager.consumers.add(name, {
    durable_name: 'store',
    ack_policy: AckPolicy.Explicit,
    max_ack_pending: 4_000,
  });
  const { findStoryItem } = options;
  const store = createMatchStore(database, findStoryItem && { findStoryItem });
  const days = [-1, 0, 1].map((ahead) => new Date(Date.now() + ahead * 24 * 3_600_000).toISOString());
  await store.makeDays(days.map((day) => day.slice(0, 10)));
  const running = stack.move();
  return {
    /** Resolves when all of them are stored. `bodies` are new events as they are in the log. */
    async run(bodies: readonly string[]): Promise<void> {
      const left = { events: bodies.length, ended: Promise.withResolvers<void>() };
      const storing = Array.from({ length: consumers }, () => storeAll(connection, store, options, left));
      await publishAll(connection, name, pack(bodies, eventsPerMessage), windowMax / eventsPerMessage);
      await Promise.all(storing);
    },
    analyse: () => database.run('analyze'),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** A message is always an array, also with one event, at no extra cost. */
function pack(bodies: readonly string[], size: number): string[] {
  return Array.from(
    { length: Math.ceil(bodies.length / size) },
    (_, n) => `[${bodies.slice(n * size, (n + 1) * size).join(',')}]`,
  );
}

let published = 0;

async function publishAll(
  connection: NatsConnection,
  subject: string,
  messages: readonly string[],
  underWay: number,
): Promise<void> {
  const client = jetstream(connection);
  let next = 0;
  const publisher = async () => {
    for (let message = messages[next++]; message !== undefined; message = messages[next++])
      await client.publish(subject, message, { msgID: `${subject}:${published++}` });
  };
  await Promise.all(Array.from({ length: underWay }, publisher));
}

interface Left {
  events: number;
  readonly ended: PromiseWithResolvers<void>;
}

/** Stores what has arrived, at most one batch, without waiting for a full one. */
async function storeAll(
  connection: NatsConnection,
  store: MatchStore,
  { name, installation, holders }: BareOptions,
  left: Left,
): Promise<void> {
  const source = await jetstream(connection).consumers.get(name, 'store');
  const messages = await source.consume({ max_messages: batchMax });
  const waiting: JsMsg[] = [];
  let storing: Promise<void> | null = null;
  const storeWaiting = async () => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchMax);
      const events = batch.flatMap((message): LogEvent[] => JSON.parse(message.string()));
      const { posts, matches, recipients } = matchEvents(installation, events, holders);
      const day = new Date().toISOString().slice(0, 10);
      await store.write(
        posts,
        matches,
        batch.map(({ seq }) => seq),
        events.map((event) => ({ event, day, recipients: recipients.get(event) ?? [] })),
      );
      for (const message of batch) message.ack();
      left.events -= events.length;
      if (left.events === 0) left.ended.resolve();
    }
  };
  const reading = (async () => {
    for await (const message of messages) {
      waiting.push(message);
      storing ??= storeWaiting().finally(() => {
        storing = null;
      });
    }
  })();
  await left.ended.promise;
  messages.stop();
  await reading;
}

const urlOf = (url: string, name: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;

/** Copies the server's database with its tables and its installation. Call it before a client connects. */
export async function copyDatabase({ superuserUrl }: Engines, name: string): Promise<void> {
  const client = new pg.Client(urlOf(superuserUrl, 'postgres'));
  await client.connect();
  await client.query(`create database ${name} template earshot owner earshot_owner`);
  await client.end();
}

/** Tables of the rules, which exist before the copy is made. */
export async function copyRules({ superuserUrl }: Engines, name: string): Promise<void> {
  const [from, to] = [new pg.Client(superuserUrl), new pg.Client(urlOf(superuserUrl, name))];
  await Promise.all([from.connect(), to.connect()]);
  await to.query('set session_replication_role = replica');
  for (const table of ['accounts', 'sources', 'rules', 'rule_versions', 'slots', 'slot_holders']) {
    const { rows } = await from.query<{ all: string }>(
      `select json_agg(${table}.*)::text as all from ${table}`,
    );
    await to.query(`delete from ${table}`);
    await to.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [
      rows[0]?.all ?? '[]',
    ]);
  }
  await Promise.all([from.end(), to.end()]);
}
