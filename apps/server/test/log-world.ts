import { eventually, type NatsServers, startTestNats, type Template } from '@earshot/testkit';
import type { Database } from '../src/engines/database.ts';
import { readInstallation } from '../src/engines/installation.ts';
import { connectNats, type Nats } from '../src/engines/nats.ts';
import {
  createEventConsumer,
  type EventConsumer,
  type EventConsumerOptions,
} from '../src/event-log/event-consumer.ts';
import { createEventLog, type EventLog, type LogEvent } from '../src/event-log/event-log.ts';
import { eventsStream, matchConsumer } from '../src/event-log/events-stream.ts';
import { createLogCopies } from '../src/event-log/log-copies.ts';
import { createParsedRules } from '../src/language/explain-match.ts';
import { createCheckLog, createSettledStore } from '../src/matching/check-log.ts';
import { createMatchStore, type MatchStore } from '../src/matching/match-store.sql.ts';
import { createMatchWorker, storeBatch } from '../src/matching/match-worker.ts';
import { createMetrics, type Metrics } from '../src/observability/metrics.ts';
import { createTelemetry } from '../src/observability/telemetry.ts';
import { Failure } from '../src/runtime/failure.ts';
import { supervise } from '../src/runtime/supervisor.ts';
import { createLocalBells } from './local-bells.ts';
import { xEvent } from './stream-events.ts';
import { makeEventsStream, openTestDatabase, seedRules, silentLog } from './support.ts';

/** The log and its match workers, on servers of the caller's; every event matches one rule. */
export interface LogWorld extends AsyncDisposable {
  readonly nats: Nats;
  readonly log: EventLog;
  readonly metrics: Metrics;
  readonly store: MatchStore;
  startWorkers(options?: WorkerOptions): AsyncDisposable;
  /** One check that the log has delivered every event. */
  check(): Promise<void>;
  /** Appends events with these numbers, many at once. */
  append(from: number, count: number, text?: string): Promise<void>;
  /** The keys of all matches, sorted, as often as each is stored. */
  stored(): Promise<string[]>;
  storedAll(count: number, timeoutMs: number): Promise<void>;
  /** Waits until everything that was appended is delivered and acknowledged. */
  idle(): Promise<void>;
  holes(fate: 'found' | 'recovered' | 'lost'): Promise<number>;
}

interface WorkerOptions {
  readonly count?: number;
  readonly store?: MatchStore;
  readonly wrapSource?: (source: EventConsumer) => EventConsumer;
  readonly source?: EventConsumerOptions;
}

interface LogWorldOptions {
  readonly servers: NatsServers;
  readonly database: Database;
  readonly bytesMax?: number;
  readonly ackWaitMs?: number;
}

/** The same with separate servers and database. */
export async function openOwnLogWorld(
  template: Template,
): Promise<AsyncDisposable & { readonly world: LogWorld; readonly database: Database }> {
  await using stack = new AsyncDisposableStack();
  const servers = stack.use(await startTestNats());
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url));
  const world = stack.use(await openLogWorld({ servers, database }));
  const all = stack.move();
  return { world, database, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

export async function openLogWorld(options: LogWorldOptions): Promise<LogWorld> {
  const { servers, database, bytesMax = 1024 ** 3, ackWaitMs = 30_000 } = options;
  const nats = await connectNats(servers.url, 'test');
  await makeEventsStream(nats, { replicas: servers.nodes.length, bytesMax, ackWaitMs });
  await seedRules(database, 1);
  const metrics = createMetrics();
  const store = createMatchStore(database);
  const common = {
    installation: (await readInstallation(database)).id,
    store,
    bells: createLocalBells(),
    telemetry: createTelemetry(silentLog, metrics),
  };
  const log = createEventLog(nats);
  const stored = async () => {
    const rows = await database.many<{ event_key: string }>(
      'select event_key from matches order by event_key',
    );
    return rows.map((row) => row.event_key);
  };
  return {
    nats,
    log,
    metrics,
    store,
    startWorkers({ count = 2, wrapSource, source = {}, ...given } = {}) {
      const workers = Array.from({ length: count }, (_, index) =>
        createMatchWorker({
          ...common,
          ...given,
          name: `match:${index}`,
          consumer: wrapSource?.(createEventConsumer(nats, source)) ?? createEventConsumer(nats, source),
          parsedRules: createParsedRules(),
        }),
      );
      return supervise(workers, { log: silentLog, metrics, isOutage: () => false });
    },
    check: createCheckLog({
      log: createLogCopies(nats),
      settled: createSettledStore(database),
      store: (batch) => storeBatch(common, batch),
      telemetry: common.telemetry,
      nowMs: () => performance.now(),
    }),
    append: (from, count, text) => appendMany(log, from, count, text),
    stored,
    storedAll: (count, timeoutMs) =>
      eventually(async () => (await stored()).length >= count, { timeoutMs, intervalMs: 100 }).then(
        () => undefined,
      ),
    async idle() {
      const isIdle = async () => {
        const info = await nats.manager.consumers.info(eventsStream, matchConsumer);
        return info.num_pending === 0 && info.num_ack_pending === 0;
      };
      await eventually(isIdle, { timeoutMs: 90_000, intervalMs: 100 });
    },
    async holes(fate) {
      const { values } = await metrics.logGaps.get();
      return values.find(({ labels }) => labels['fate'] === fate)?.value ?? 0;
    },
    async [Symbol.asyncDispose]() {
      await nats.connection.close();
    },
  };
}

async function appendMany(log: EventLog, from: number, count: number, text = 'a post'): Promise<void> {
  for (let at = from; at < from + count; at += 250) {
    const some = Array.from({ length: Math.min(250, from + count - at) }, (_, index) =>
      post(at + index, text),
    );
    await Promise.all(some.map((event) => log.append(event, null)));
  }
}

function post(number: number, text: string): LogEvent {
  const event = xEvent(number);
  return { ...event, payload: { ...event.payload, text } };
}

/** For controls: acknowledges an event when it is delivered, not when it is stored. */
export function acknowledgeEarly(source: EventConsumer): EventConsumer {
  return {
    async *batches(max, signal) {
      for await (const batch of source.batches(max, signal)) {
        for (const logged of batch) logged.ack();
        yield batch;
      }
    },
  };
}

/**
 * Counts how often the database failed its workers. With `givesUp` the workers fail too, as if the database were down for
 * longer than they keep a batch.
 */
export function watchFailures(store: MatchStore, { givesUp }: { givesUp: boolean }) {
  let failures = 0;
  const failing = (error: unknown) => {
    failures++;
    throw givesUp
      ? new Failure('aborted', 'given up', { details: { reason: 'conflict' }, cause: error })
      : error;
  };
  const watched: MatchStore = {
    ...store,
    holdersOf: (references) => store.holdersOf(references).catch(failing),
    days: () => store.days().catch(failing),
    write: (...given) => store.write(...given).catch(failing),
  };
  return { store: watched, failures: () => failures };
}
