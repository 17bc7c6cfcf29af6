import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsumerInfo, StoredMsg, StreamInfo } from '@nats-io/jetstream';
import type { Nats } from '../engines/nats.ts';
import type { CheckedLog } from '../matching/check-log.ts';
import { readEvent } from './event-source.ts';
import { eventsStream, matchConsumer } from './events-stream.ts';
import type { LoggedEvent } from './logged-event.ts';

const fetchesAtOnce = 128;
const newLeaderWithinMs = 15_000;
const lookAgainMs = 100;

export function createCheckedLog({ connection, manager }: Nats): CheckedLog {
  const { streams, consumers } = manager;
  const stream = () => streams.info(eventsStream);
  const consumer = () => consumers.info(eventsStream, matchConsumer);
  const stepDown = (what: string, payload = '') =>
    connection.request(`$JS.API.${what}`, payload, { timeout: 5_000 });
  return {
    async state() {
      const { created, state, config } = await stream();
      const info = await consumer();
      return {
        createdAt: created,
        settledThrough: info.ack_floor.stream_seq,
        idleAt: info.num_pending === 0 && info.num_ack_pending === 0 ? state.last_seq : null,
        deliverer: info.cluster?.leader ?? null,
        copies: config.num_replicas,
      };
    },
    async fetch(sequences) {
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
    async changeDeliverer() {
      const leader = (await consumer()).cluster?.leader ?? '';
      await stepDown(`CONSUMER.LEADER.STEPDOWN.${eventsStream}.${matchConsumer}`);
      await hasNewLeader(consumer, new Set([leader]));
    },
  };
}

/** Only the leader answers, so this asks until one does whose copy has not been asked. */
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

/** A message that this copy cannot give, for whatever reason, is left out. */
async function fetchAll(
  sequences: readonly number[],
  get: (sequence: number) => Promise<StoredMsg | null>,
): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for (let at = 0; at < sequences.length; at += fetchesAtOnce) {
    const some = sequences.slice(at, at + fetchesAtOnce);
    const messages = await Promise.all(some.map((sequence) => get(sequence).catch(() => null)));
    for (const message of messages) if (message) found.push(toLoggedEvent(message));
  }
  return found;
}

function toLoggedEvent(message: StoredMsg): LoggedEvent {
  const body = message.string();
  const nothing = () => undefined;
  return { sequence: message.seq, event: readEvent(body), body, deliveries: 1, ack: nothing, again: nothing };
}
