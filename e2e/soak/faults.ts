import { setTimeout as sleep } from 'node:timers/promises';
import type { SoakSystem } from './system.ts';

interface Fault {
  readonly name: string;
  fire(system: SoakSystem, pick: <Item>(items: readonly Item[]) => Item): Promise<void>;
}

const frozenMs = 5_000;
/** More than the 30 s after which the watchdog finds it. */
const stallFoundWithinMs = 35_000;

/** Everything that may go wrong while it runs; each heals what it broke before the next one comes. */
const faults: readonly Fault[] = [
  sandboxFault('cut streams', { kind: 'stream_cut' }),
  {
    name: 'stalled streams',
    async fire({ sandbox, xState }) {
      // The fault before may still keep it from being open, and there would be nothing to stall.
      while ((await xState()).connections.open === 0) await sleep(100);
      await sandbox.arm({ kind: 'stream_stall', platform: 'x' });
      // Silence below the time between two keep-alives looks like a quiet stream: one that is cut before the watchdog
      // has found it ends, for the ledger, at the cut. So it gets the time to be found.
      await sleep(stallFoundWithinMs);
    },
  },
  sandboxFault('records sent twice', { kind: 'duplicate_delivery', count: 200 }),
  sandboxFault('records in pieces', { kind: 'split_chunks', count: 200 }),
  {
    name: 'refused connections',
    async fire({ sandbox }) {
      await sandbox.arm({ kind: 'stream_status', status: 503, count: 2 });
      await sandbox.arm({ kind: 'stream_cut' });
    },
  },
  {
    name: 'killed server',
    async fire({ servers }, pick) {
      const node = pick(servers);
      await node.kill();
      await node.start();
    },
  },
  {
    name: 'frozen server',
    async fire({ servers }, pick) {
      const { pid } = pick(servers);
      process.kill(pid, 'SIGSTOP');
      await sleep(frozenMs);
      process.kill(pid, 'SIGCONT');
    },
  },
  {
    name: 'killed NATS node',
    async fire({ nats }, pick) {
      const node = pick(nats.nodes);
      await node.kill('SIGKILL');
      await node.restart();
    },
  },
  {
    name: 'frozen NATS node',
    async fire({ nats }, pick) {
      const node = pick(nats.nodes);
      await node.kill('SIGSTOP');
      await sleep(frozenMs);
      await node.kill('SIGCONT');
    },
  },
  { name: 'crashed PostgreSQL', fire: (system) => system.crashPostgres() },
];

function sandboxFault(name: string, fault: Record<string, unknown>): Fault {
  return { name, fire: ({ sandbox }) => sandbox.arm(fault) };
}

interface FireOptions {
  readonly seconds: number;
  readonly random: () => number;
  readonly say: (line: string) => void;
}

/** All of them once, in random order, again and again, with a pause between two. Returns their names. */
export async function fireFaults(
  system: SoakSystem,
  { seconds, random, say }: FireOptions,
): Promise<string[]> {
  const fired: string[] = [];
  const until = performance.now() + seconds * 1_000;
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  };
  let waiting: Fault[] = [];
  while (performance.now() < until) {
    if (waiting.length === 0) waiting = [...faults];
    const fault = pick(waiting);
    waiting = waiting.filter((one) => one !== fault);
    say(fault.name);
    await fault.fire(system, pick);
    fired.push(fault.name);
    await sleep(2_000 + random() * 4_000);
  }
  return fired;
}
