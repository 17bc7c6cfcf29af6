import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runPoint } from './run-point.ts';
import { startWorld, type World } from './world.ts';

/**
 * The growth curves of docs/scale.md along the way of an event: processor time, bytes and memory of the real server and its engines
 * while one thing grows. One line of JSON per point, for `constants.json`.
 */
const { values: given } = parseArgs({
  options: {
    curves: { type: 'string', default: 'events,endpoints,matches,accounts' },
    seconds: { type: 'string', default: '12' },
  },
});
const seconds = Number(given.seconds);

type Run = (perSecond: number, point: Record<string, number>) => Promise<void>;

/** How many rules match each event by now: what a curve adds stays. */
let matchesPerEvent = 1;

async function setMatches(world: World, wanted: number, accounts: number): Promise<void> {
  if (wanted < matchesPerEvent) throw new Error('rules can only be added: this curve comes first');
  if (wanted > matchesPerEvent) await world.addMatches(wanted - matchesPerEvent, accounts);
  matchesPerEvent = wanted;
}

const curves: Record<string, (world: World, run: Run) => Promise<void>> = {
  async events(_, run) {
    for (const perSecond of [0, 10, 50, 250, 1_000, Number.POSITIVE_INFINITY]) await run(perSecond, {});
  },
  async endpoints(world, run) {
    let endpoints = 0;
    for (const wanted of [20, 60, 200]) {
      await world.addEndpoints(wanted - endpoints);
      endpoints = wanted;
      await run(40, { endpoints });
    }
    await world.database.query(`update webhooks set state = 'paused'`);
  },
  async matches(world, run) {
    for (const wanted of [3, 10, 30]) {
      await setMatches(world, wanted, 10);
      await run(100, {});
    }
  },
  async accounts(world, run) {
    for (const accounts of [1, 20, 400]) {
      await world.database.query(`delete from slot_holders where account_id like 'acct\\_%\\_%'`);
      matchesPerEvent = 1;
      await setMatches(world, 11, accounts);
      await run(100, { accounts });
    }
  },
  /** Not used for fitting: some of everything. */
  async mixed(world, run) {
    await setMatches(world, 5, 50);
    await world.addEndpoints(40);
    await run(150, { endpoints: 40 });
  },
  /** Not used for fitting: as fast as it goes. */
  async limit(world, run) {
    await setMatches(world, 2, 10);
    await run(Number.POSITIVE_INFINITY, {});
  },
};

const rounded = (_: string, value: unknown) =>
  typeof value === 'number' ? Number(value.toPrecision(4)) : value;

await using stack = new AsyncDisposableStack();
const world = await startWorld(stack);
// The planner knows the tables from then on, as it does a minute after the first start; the code is compiled.
await runPoint(world, { perSecond: Number.POSITIVE_INFINITY, seconds: 0, matchesPerEvent });
await world.database.query('analyze');
await sleep(10_000);
for (const name of given.curves.split(',')) {
  const curve = curves[name];
  if (!curve) throw new Error(`--curves are of ${Object.keys(curves).join(', ')}`);
  await curve(world, async (perSecond, point) => {
    const observed = await runPoint(world, { perSecond, seconds, matchesPerEvent });
    const all = { curve: name, matchesPerEvent, ...point, ...observed };
    process.stdout.write(`${JSON.stringify(all, rounded)}\n`);
  });
}
