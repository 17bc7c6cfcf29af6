import { setTimeout as sleep } from 'node:timers/promises';
import { injectAll, injectAtRate } from '../pipeline/load.ts';
import type { Look, World } from './world.ts';

/** What a run under load used, per second of it. */
export interface Observed {
  readonly seconds: number;
  readonly eventsPerSecond: number;
  readonly matchesPerSecond: number;
  readonly messagesPerSecond: number;
  readonly transactionsPerSecond: number;
  readonly webhookMessagesPerSecond: number;
  /** Cores. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Bytes a second. */
  readonly bytes: {
    readonly database: number;
    readonly wal: number;
    readonly log: number;
    readonly nodeIn: number;
    readonly nodeOut: number;
    readonly webhooks: number;
  };
  readonly nodeMiB: number;
}

let first = 0;

/** At a rate, or as fast as everything together goes. */
export async function runPoint(
  world: World,
  load: { readonly perSecond: number; readonly seconds: number; readonly matchesPerEvent: number },
): Promise<Observed> {
  const { perSecond, seconds, matchesPerEvent } = load;
  const before = await world.look();
  const due = before.matches;
  let events = 0;
  if (perSecond === Number.POSITIVE_INFINITY) {
    events = 15_000;
    await injectAll(world.system.load, events);
  } else if (perSecond > 0) {
    events = await injectAtRate(world.system.load, { perSecond, seconds, first });
  } else await sleep(seconds * 1_000);
  first += 1_000_000;
  await world.untilMatches(due + events * matchesPerEvent);
  // Webhooks that are still under way belong to the run.
  if (Number.isFinite(perSecond)) await sleep(500);
  return await observed(world, before, events);
}

async function observed(world: World, before: Look, events: number): Promise<Observed> {
  const after = await world.look();
  const seconds = (after.atMs - before.atMs) / 1_000;
  const rate = (
    key:
      | 'matches'
      | 'messages'
      | 'transactions'
      | 'webhookMessages'
      | 'databaseBytes'
      | 'walBytes'
      | 'logBytes'
      | 'webhookBytes',
  ) => (after[key] - before[key]) / seconds;
  const cpu: Record<string, number> = {};
  for (const [process, used] of Object.entries(after.cpu)) {
    const name = process.split('-')[0] ?? process;
    cpu[name] = (cpu[name] ?? 0) + (used - (before.cpu[process] ?? 0)) / seconds;
  }
  return {
    seconds,
    eventsPerSecond: events / seconds,
    matchesPerSecond: rate('matches'),
    messagesPerSecond: rate('messages'),
    transactionsPerSecond: rate('transactions'),
    webhookMessagesPerSecond: rate('webhookMessages'),
    cpu,
    bytes: {
      database: rate('databaseBytes'),
      wal: rate('walBytes'),
      log: rate('logBytes'),
      nodeIn: (after.io.in - before.io.in) / seconds,
      nodeOut: (after.io.out - before.io.out) / seconds,
      webhooks: rate('webhookBytes'),
    },
    nodeMiB: await world.nodeMiB(),
  };
}
