import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, type NatsServers } from '@earshot/testkit';
import type { Nats } from '../src/engines/nats.ts';
import type { EventLog, LogEvent } from '../src/event-log/event-log.ts';
import { unpackBodies } from '../src/event-log/event-message.ts';
import { eventsStream } from '../src/event-log/events-stream.ts';
import { xEvent } from './stream-events.ts';

const inFlight = 128;
const faultNames = ['kill', 'stop', 'kill all'] as const;
type Fault = (typeof faultNames)[number];

export interface ChaosResult {
  readonly acknowledged: number;
  readonly lost: number;
  readonly doubled: number;
  /** The longest time without an acknowledgement. */
  readonly stallMs: number;
  readonly fired: Readonly<Record<Fault, number>>;
}

export interface ChaosOptions {
  readonly servers: NatsServers;
  readonly nats: Nats;
  readonly log: EventLog;
  /** The number of acknowledged appends, and the minimum for each fault. */
  readonly acknowledged: number;
  readonly faultsOfEachKind: number;
  readonly random: () => number;
}

/** Appends as a listener does while nodes are killed and stopped; then reads the whole log and compares. */
export async function runLogChaos(options: ChaosOptions): Promise<ChaosResult> {
  const acknowledged = new Set<string>();
  const fired: Record<Fault, number> = { kill: 0, stop: 0, 'kill all': 0 };
  let lastAt = performance.now();
  let stallMs = 0;
  let number = 0;
  const isDone = () =>
    acknowledged.size >= options.acknowledged &&
    faultNames.every((name) => fired[name] >= options.faultsOfEachKind);
  const lane = async (): Promise<void> => {
    while (!isDone()) {
      const event = xEvent(number++);
      await options.log.append(event, null);
      acknowledged.add(event.key);
      stallMs = Math.max(stallMs, performance.now() - lastAt);
      lastAt = performance.now();
    }
  };
  const lanes = Promise.all(Array.from({ length: inFlight }, lane));
  const stopped = new AbortController();
  const faults = causeFaults(options, fired, stopped.signal);
  await Promise.race([lanes, faults]);
  await lanes;
  stopped.abort();
  await faults;
  const logged = await readLog(options.nats);
  return {
    acknowledged: acknowledged.size,
    lost: [...acknowledged].filter((key) => !logged.has(key)).length,
    doubled: [...logged.values()].filter((times) => times > 1).length,
    stallMs,
    fired,
  };
}

/** One after the other, with pauses in which the log continues. */
async function causeFaults(
  { servers, random }: ChaosOptions,
  fired: Record<Fault, number>,
  signal: AbortSignal,
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    await sleep(500 + random() * 1_000);
    const fault = faultNames[turn % faultNames.length] ?? 'kill';
    const node = servers.nodes[Math.floor(random() * servers.nodes.length)];
    if (fault === 'kill all') {
      await Promise.all(servers.nodes.map((one) => one.kill('SIGKILL')));
      await Promise.all(servers.nodes.map((one) => one.restart()));
    } else if (fault === 'kill') {
      await node?.kill('SIGKILL');
      await sleep(random() * 1_000);
      await node?.restart();
    } else {
      await node?.kill('SIGSTOP');
      await sleep(500 + random() * 2_000);
      await node?.kill('SIGCONT');
    }
    fired[fault]++;
  }
}

/** Every key in the log, in its order, and how often. */
export async function readLog({ jetstream, manager }: Nats): Promise<Map<string, number>> {
  const logged = new Map<string, number>();
  // After the last fault there may be no leader yet.
  const { state } = await eventually(() => manager.streams.info(eventsStream), { timeoutMs: 60_000 });
  if (state.messages === 0) return logged;
  const consumer = await jetstream.consumers.get(eventsStream);
  for await (const message of await consumer.consume({ max_messages: 1_000 })) {
    for (const body of unpackBodies(message.string())) {
      const { key }: LogEvent = JSON.parse(body);
      logged.set(key, (logged.get(key) ?? 0) + 1);
    }
    if (message.seq >= state.last_seq) break;
  }
  return logged;
}
