import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsumerInfo, StoredMsg, StreamInfo } from '@nats-io/jetstream';
import type { Nats } from '../engines/nats.ts';
import { type LoggedEvent, readMessage } from './event-consumer.ts';
import { eventsStream, matchConsumer } from './events-stream.ts';

const fetchesAtOnce = 128;
/** Nothing is to be told to the log. */
const fetched = { deliveries: 1, onSettled: () => undefined, redeliver: () => undefined };
const newLeaderWithinMs = 15_000;
const lookAgainMs = 100;

export interface LogState {
  /** Everything up to here was delivered and acknowledged, or left out. */
  readonly settledThrough: number;
  /** The last one that was delivered. Beyond `settledThrough` some are acknowledged, those after one that waits to be. */
  readonly deliveredThrough: number;
  /** The last sequence, when nothing waits to be delivered or acknowledged; else null. */
  readonly idleAt: number | null;
  /** The node that delivers. */
  readonly deliverer: string | null;
  readonly copies: number;
}

/** The copies of the log on the nodes of a cluster: what they report, and what each of them holds. */
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
     * `missing` were found in none of the copies that could be read. `found` are all events of the others.
     */
    async fetch(sequences: readonly number[]): Promise<{ found: LoggedEvent[]; missing: number[] }> {
      const found: LoggedEvent[] = [];
      const asked = new Set<string>();
      let missing = [...sequences];
      for (;;) {
        const { cluster } = await stream();
        const got = await fetchAll(missing, (seq) => streams.getMessage(eventsStream, { seq }));
        found.push(...got);
        const have = new Set(got.map(({ sequence }) => sequence));
        missing = missing.filter((sequence) => !have.has(sequence));
        asked.add(cluster?.leader ?? '');
        const other = cluster?.replicas?.find(({ name, offline }) => !asked.has(name) && !offline);
        if (missing.length === 0 || other === undefined) return { found, missing };
        await stepDown(
          `STREAM.LEADER.STEPDOWN.${eventsStream}`,
          JSON.stringify({ placement: { preferred: other.name } }),
        );
        if (!(await hasNewLeader(stream, asked))) return { found, missing };
      }
    },
    /** Has another node deliver from now on. */
    async changeDeliverer(): Promise<void> {
      const leader = (await consumer()).cluster?.leader ?? '';
      await stepDown(`CONSUMER.LEADER.STEPDOWN.${eventsStream}.${matchConsumer}`);
      await hasNewLeader(consumer, new Set([leader]));
    },
  };
}

export type LogCopies = ReturnType<typeof createLogCopies>;

/** Polls until a leader answers that is not in `asked`; false when none does in time. */
async function hasNewLeader(
  info: () => Promise<Pick<StreamInfo | ConsumerInfo, 'cluster'>>,
  asked: ReadonlySet<string>,
): Promise<boolean> {
  const deadline = performance.now() + newLeaderWithinMs;
  while (performance.now() < deadline) {
    const leader = await info().then(
      ({ cluster }) => cluster?.leader,
      () => undefined,
    );
    if (leader && !asked.has(leader)) return true;
    await sleep(lookAgainMs);
  }
  return false;
}

/** A message that this copy cannot return, for whatever reason, is left out. */
async function fetchAll(
  sequences: readonly number[],
  get: (sequence: number) => Promise<StoredMsg | null>,
): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for (let at = 0; at < sequences.length; at += fetchesAtOnce) {
    const some = sequences.slice(at, at + fetchesAtOnce);
    const messages = await Promise.all(some.map((sequence) => get(sequence).catch(() => null)));
    for (const message of messages) if (message) found.push(...readMessage(message, fetched));
  }
  return found;
}
