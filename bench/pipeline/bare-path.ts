import { AckPolicy, type JsMsg, jetstream, jetstreamManager, StorageType } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import pg from 'pg';
import type { Engines } from '../start-engines.ts';

const stream = 'BARE';
const consumer = 'insert';
/** As in the server: publishes under way, rows per transaction, consumers. */
const windowMax = 256;
const batchMax = 500;
const consumers = 2;

/** Seconds for so many messages through the bare engines: publish to three replicas, consume, insert; no logic of ours. */
export async function measureBarePath(
  { nats, postgresUrl }: Engines,
  { messages, bytes, replicas }: { messages: number; bytes: number; replicas: number },
): Promise<number> {
  const connection = await connect({ servers: nats.url.split(','), ignoreClusterUpdates: true });
  const pool = new pg.Pool({ connectionString: postgresUrl, max: consumers });
  try {
    await pool.query('drop table if exists bare');
    await pool.query('create table bare (key text primary key, payload text compression lz4 not null)');
    const manager = await jetstreamManager(connection);
    await manager.streams.add({
      name: stream,
      subjects: ['bare'],
      num_replicas: replicas,
      storage: StorageType.File,
    });
    await manager.consumers.add(stream, {
      durable_name: consumer,
      ack_policy: AckPolicy.Explicit,
      max_ack_pending: 2_000,
    });
    const { promise: finished, resolve: done } = Promise.withResolvers<void>();
    const progress: Progress = { messages, inserted: 0, finished, done };
    const startedAt = performance.now();
    const inserting = Array.from({ length: consumers }, () => insertAll(connection, pool, progress));
    await publishAll(connection, messages, bytes);
    await Promise.all(inserting);
    return (performance.now() - startedAt) / 1_000;
  } finally {
    await pool.end();
    await connection.close();
  }
}

async function publishAll(connection: NatsConnection, messages: number, bytes: number): Promise<void> {
  const client = jetstream(connection);
  const filler = 'x'.repeat(Math.max(0, bytes - 24));
  const open = new Set<Promise<unknown>>();
  for (let n = 0; n < messages; n++) {
    if (open.size >= windowMax) await Promise.race(open);
    const publishing: Promise<unknown> = client
      .publish('bare', JSON.stringify({ n, filler }), { msgID: `bare:${n}` })
      .finally(() => open.delete(publishing));
    open.add(publishing);
  }
  await Promise.all(open);
}

/** Takes along what has arrived, at most a batch; nobody waits for a full one. */
async function insertAll(connection: NatsConnection, pool: pg.Pool, progress: Progress): Promise<void> {
  const source = await jetstream(connection).consumers.get(stream, consumer);
  const messages = await source.consume({ max_messages: batchMax });
  const waiting: JsMsg[] = [];
  let inserting = Promise.resolve();
  let busy = false;
  const insertWaiting = async () => {
    busy = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchMax);
      const rows = await insert(pool, batch);
      progress.inserted += rows;
      for (const message of batch) message.ack();
    }
    busy = false;
    if (progress.inserted >= progress.messages) progress.done();
  };
  const reading = (async () => {
    for await (const message of messages) {
      waiting.push(message);
      if (!busy) inserting = insertWaiting();
    }
  })();
  await progress.finished;
  messages.stop();
  await reading;
  await inserting;
}

interface Progress {
  readonly messages: number;
  inserted: number;
  readonly finished: Promise<void>;
  done(): void;
}

async function insert(pool: pg.Pool, batch: readonly JsMsg[]): Promise<number> {
  const { rowCount } = await pool.query(
    'insert into bare select * from unnest($1::text[], $2::text[]) on conflict do nothing',
    [batch.map((message) => String(message.seq)), batch.map((message) => message.string())],
  );
  return rowCount ?? 0;
}
