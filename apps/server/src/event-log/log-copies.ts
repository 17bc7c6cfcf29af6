import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsumerInfo, StoredMsg, StreamInfo } from '@nats-io/jetstream';
import { isNatsAway, type Nats } from '../engines/nats.ts';
import { type LoggedEvent, readMessage } from './event-consumer.ts';
import { eventsStream, matchConsumer } from './events-stream.ts';

const fetchesAtOnce = 128;
/** The log is not notified. */
const fetched = { deliveries: 1, onSettled: () => undefined, redeliver: () => undefined };
const newLeaderWithinMs = 15_000;
const pollIntervalMs = 100;

export interface LogState {
  /** Everything up to here was delivered and acknowledged, or skipped. */
  readonly settledThrough: number;
  /**
   * The last delivered sequence. After `settledThrough`, some events may be acknowledged while an earlier one is
   * pending.
   */
  readonly deliveredThrough: number;
  /** The last sequence if nothing is pending; else null. */
  readonly idleAt: number | null;
  /** The node that delivers events. */
  readonly deliverer: string | null;
  readonly copies: number;
}

/** The copies of the log in a cluster: their reported state and their contents. */
export function createLogCopies({ connection, manager }: Nats) {
  const { streams, consumers } = manager;
  const stream = () => streams.info(eventsStream);
  const consumer = () => consumers.info(eventsStream, matchConsumer);
  const stepDown = (what: string, payload = '') =>
    connection.request(`$JS.API.${what}`, payload, { timeout: 5_000 });
  return {
    async state(): Promise<LogState> {
      const { state, config } = await stream();
      const info = await consumer();
      return {
        settledThrough: info.ack_floor.stream_seq,
        deliveredThrough: info.delivered.stream_seq,
        idleAt: info.num_pending === 0 && info.num_ack_pending === 0 ? state.last_seq : null,
        deliverer: info.cluster?.leader ?? null,
        copies: config.num_replicas,
      };
    },
    /**
     * Only the leader's copy can be read, so the leadership moves until every copy was read or nothing is missing.
     * `missing` were in none of the readable copies; `found` are the events of the others.
     */
    async fetch(sequences: readonly number[]): Promise<{ found: LoggedEvent[]; missing: number[] }> {
      const found: LoggedEvent[] = [];
      const triedLeaders = new Set<string>();
      let missing = [...sequences];
      for (;;) {
        const { cluster } = await stream();
        const got = await fetchAll(missing, (seq) => streams.getMessage(eventsStream, { seq }));
        found.push(...got);
        const have = new Set(got.map(({ sequence }) => sequence));
        missing = missing.filter((sequence) => !have.has(sequence));
        triedLeaders.add(cluster?.leader ?? '');
        const other = cluster?.replicas?.find(({ name, offline }) => !triedLeaders.has(name) && !offline);
        if (missing.length === 0 || other === undefined) return { found, missing };
        await stepDown(
          `STREAM.LEADER.STEPDOWN.${eventsStream}`,
          JSON.stringify({ placement: { preferred: other.name } }),
        );
        if (!(await hasNewLeader(stream, triedLeaders))) return { found, missing };
      }
    },
    /** Makes another node deliver from now on. */
    async changeDeliverer(): Promise<void> {
      const leader = (await consumer()).cluster?.leader ?? '';
      await stepDown(`CONSUMER.LEADER.STEPDOWN.${eventsStream}.${matchConsumer}`);
      await hasNewLeader(consumer, new Set([leader]));
    },
  };
}

export type LogCopies = ReturnType<typeof createLogCopies>;

/** Polls until a leader outside `triedLeaders` answers; false if that takes too long. */
async function hasNewLeader(
  info: () => Promise<Pick<StreamInfo | ConsumerInfo, 'cluster'>>,
  triedLeaders: ReadonlySet<string>,
): Promise<boolean> {
  const deadline = performance.now() + newLeaderWithinMs;
  while (performance.now() < deadline) {
    const leader = await info().then(
      ({ cluster }) => cluster?.leader,
      () => undefined,
    );
    if (leader && !triedLeaders.has(leader)) return true;
    await sleep(pollIntervalMs);
  }
  return false;
}

/** Skips messages that this copy cannot return. Fails if the server does not answer, because then nothing is known. */
async function fetchAll(
  sequences: readonly number[],
  get: (sequence: number) => Promise<StoredMsg | null>,
): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for (let at = 0; at < sequences.length; at += fetchesAtOnce) {
    const some = sequences.slice(at, at + fetchesAtOnce);
    const messages = await Promise.all(some.map((sequence) => get(sequence).catch(explainMissing)));
    for (const message of messages) if (message) found.push(...readMessage(message, fetched));
  }
  return found;
}

function explainMissing(error: unknown): null {
  if (isNatsAway(error)) throw error;
  return null;
}
