import { setTimeout as sleep } from 'node:timers/promises';
import type { SoakSystem } from './system.ts';

/** The parts that a fault takes away while it lasts. */
export type Part = 'x' | 'firehose' | 'bluesky' | 'a node' | 'all nodes' | 'a NATS node' | 'database';

interface Fault {
  readonly name: string;
  readonly takes: readonly Part[];
  fire(system: SoakSystem, pick: <Item>(items: readonly Item[]) => Item): Promise<void>;
}

export interface FiredFault extends Pick<Fault, 'name' | 'takes'> {
  readonly fromMs: number;
  readonly toMs: number;
}

const frozenMs = 5_000;
/** Long enough for an alert with a `for` of a few seconds: scrapes and evaluations run every 10 s. */
const allFrozenMs = 50_000;
/** More than the 30 s after which the watchdog detects it. */
const stallFoundWithinMs = 35_000;

/** All faults of a run; each repairs its damage before the next one begins. */
const faults: readonly Fault[] = [
  sandboxFault('cut streams', ['x', 'firehose', 'bluesky'], { kind: 'stream_cut' }),
  {
    name: 'stalled streams',
    takes: ['x'],
    async fire({ sandbox, xState }) {
      // After the previous fault the stream may still be closed, and then there would be nothing to stall.
      while ((await xState()).connections.open === 0) await sleep(100);
      await sandbox.arm({ kind: 'stream_stall', platform: 'x' });
      // Silence shorter than a keep-alive interval looks like a quiet stream. If such a stream is cut before the watchdog
      // has detected the silence, the gap in the ledger begins at the cut. So the watchdog gets the time to detect it.
      await sleep(stallFoundWithinMs);
    },
  },
  sandboxFault('records sent twice', [], { kind: 'duplicate_delivery', count: 200 }),
  sandboxFault('records in pieces', [], { kind: 'split_chunks', count: 200 }),
  {
    name: 'refused connections',
    takes: ['x', 'firehose', 'bluesky'],
    async fire({ sandbox }) {
      await sandbox.arm({ kind: 'stream_status', status: 503, count: 3 });
      await sandbox.arm({ kind: 'stream_cut' });
    },
  },
  {
    name: 'killed server',
    takes: ['a node'],
    async fire({ servers }, pick) {
      const node = pick(servers);
      await node.kill();
      await node.start();
    },
  },
  {
    name: 'frozen server',
    takes: ['a node'],
    async fire({ servers }, pick) {
      const { pid } = pick(servers);
      process.kill(pid, 'SIGSTOP');
      await sleep(frozenMs);
      process.kill(pid, 'SIGCONT');
    },
  },
  {
    name: 'killed NATS node',
    takes: ['a NATS node'],
    async fire({ nats }, pick) {
      const node = pick(nats.nodes);
      await node.kill('SIGKILL');
      await node.restart();
    },
  },
  {
    name: 'frozen NATS node',
    takes: ['a NATS node'],
    async fire({ nats }, pick) {
      const node = pick(nats.nodes);
      await node.kill('SIGSTOP');
      await sleep(frozenMs);
      await node.kill('SIGCONT');
    },
  },
  { name: 'crashed PostgreSQL', takes: ['database'], fire: (system) => system.crashPostgres() },
];

/** Only on request: it must raise a critical alert. */
const outage: Fault = {
  name: 'all servers frozen',
  takes: ['all nodes'],
  async fire({ servers }) {
    for (const { pid } of servers) process.kill(pid, 'SIGSTOP');
    await sleep(allFrozenMs);
    for (const { pid } of servers) process.kill(pid, 'SIGCONT');
  },
};

function sandboxFault(name: string, takes: readonly Part[], fault: Record<string, unknown>): Fault {
  return { name, takes, fire: ({ sandbox }) => sandbox.arm(fault) };
}

interface FireOptions {
  readonly seconds: number;
  readonly random: () => number;
  readonly say: (line: string) => void;
  /** Only the outage that must raise a critical alert, instead of the other faults. */
  readonly isOutage: boolean;
}

/** All of them once, in random order, again and again, with a pause between two. */
export async function fireFaults(
  system: SoakSystem,
  { seconds, random, say, isOutage }: FireOptions,
): Promise<FiredFault[]> {
  const fired: FiredFault[] = [];
  const until = performance.now() + seconds * 1_000;
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  };
  let waiting: Fault[] = [];
  while (performance.now() < until) {
    if (waiting.length === 0) waiting = isOutage ? [outage] : [...faults];
    const fault = pick(waiting);
    waiting = waiting.filter((one) => one !== fault);
    say(fault.name);
    const fromMs = Date.now();
    await fault.fire(system, pick);
    fired.push({ name: fault.name, takes: fault.takes, fromMs, toMs: Date.now() });
    await sleep(2_000 + random() * 4_000);
  }
  return fired;
}
