import type { Bells } from '../engines/bells.ts';
import type { LoggedEvent } from '../event-log/logged-event.ts';
import type { Events } from '../observability/events.ts';
import { Failure } from '../runtime/failure.ts';
import type { StreamEvent } from '../upstream/item.ts';
import { matchEvents, slotReferences } from './match-events.ts';
import type { MatchStore } from './match-store.ts';

const askAgainMs = 1_000;
/** With the delay above: longer than a registration can hang between the upstream's yes and our record. */
const deliveriesMax = 45;
const triesMax = 5;

export interface StoreBatchOptions {
  readonly installation: string;
  readonly store: MatchStore;
  readonly bells: Bells;
  readonly events: Events;
}

export interface Verdict {
  readonly event: StreamEvent;
  readonly value: string;
}

type Readable = LoggedEvent & { readonly event: StreamEvent };

/**
 * Resolve, write in one transaction, then acknowledge. An event that cannot be stored holds up nobody else: the batch
 * is halved until it stands alone, and after some tries it becomes a dead letter. Returns the upstream's verdicts.
 */
export async function storeBatch(
  options: StoreBatchOptions,
  batch: readonly LoggedEvent[],
): Promise<Verdict[]> {
  for (const logged of batch) {
    if (logged.event === null) await bury(options, logged, 'not an event: the message cannot be read');
  }
  return await storeOrHalve(options, batch.filter(isReadable));
}

function isReadable(logged: LoggedEvent): logged is Readable {
  return logged.event !== null;
}

async function storeOrHalve(options: StoreBatchOptions, batch: readonly Readable[]): Promise<Verdict[]> {
  const [only] = batch;
  if (only === undefined) return [];
  try {
    return await storeEvents(options, batch);
  } catch (error) {
    if (!isOfTheData(error)) throw error;
    if (batch.length === 1) {
      await tryLater(options, only, error);
      return [];
    }
    const half = Math.ceil(batch.length / 2);
    const first = await storeOrHalve(options, batch.slice(0, half));
    return [...first, ...(await storeOrHalve(options, batch.slice(half)))];
  }
}

async function storeEvents(options: StoreBatchOptions, batch: readonly Readable[]): Promise<Verdict[]> {
  const { installation, store, bells, events } = options;
  const startedAt = performance.now();
  const references = slotReferences(
    installation,
    batch.map(({ event }) => event),
  );
  const [inRange, holders] = await Promise.all([
    withinPartitions(options, batch),
    store.holdersOf(references),
  ]);
  const streamEvents = inRange.map(({ event }) => event);
  const { posts, matches, unknown, verdicts } = matchEvents(installation, streamEvents, holders);
  const registering = await store.sourcesRegistering([...unknown].map((event) => event.sourceId));
  const again = (logged: Readable) =>
    unknown.has(logged.event) && registering.has(logged.event.sourceId) && logged.deliveries < deliveriesMax;
  const settled = batch.filter((logged) => !again(logged));
  const stored = await store.write(
    posts,
    matches,
    settled.map(({ sequence }) => sequence),
  );
  for (const logged of batch) {
    if (again(logged)) {
      logged.again(askAgainMs);
      continue;
    }
    if (unknown.has(logged.event)) {
      events.itemDropped({ platform: logged.event.platform, reason: 'unknown_rule' });
    }
    logged.ack();
  }
  if (matches.length > 0) bells.ring('matches');
  events.batchStored({ events: batch.length, matches: stored, ms: performance.now() - startedAt });
  return [...verdicts];
}

/**
 * An event that comes late gets its partition made. A time that cannot be true, or that retention would remove at
 * once, has none: such an event is dropped, not the whole batch.
 */
async function withinPartitions(
  { store, events }: StoreBatchOptions,
  batch: readonly Readable[],
): Promise<Readable[]> {
  let days = await store.days();
  const missing = new Set(batch.map(({ event }) => event.day).filter((day) => !days.has(day)));
  if (missing.size > 0) {
    await store.makeDays([...missing]);
    days = await store.days();
  }
  return batch.filter(({ event }) => {
    if (days.has(event.day)) return true;
    events.itemDropped({ platform: event.platform, reason: 'time_out_of_range', detail: event.day });
    return false;
  });
}

/**
 * Whether the event is at fault, not the database or the schema: data that PostgreSQL refuses (SQLSTATE classes 22, 23,
 * 54), or a mistake of ours that it brings to light. Anything else is tried again for as long as it takes.
 */
function isOfTheData(error: unknown): boolean {
  if (error instanceof Failure) return false;
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    return /^(22|23|54)/.test(error.code);
  }
  return true;
}

async function tryLater(options: StoreBatchOptions, logged: Readable, error: unknown): Promise<void> {
  const reason = error instanceof Error ? error.message : String(error);
  if (logged.deliveries >= triesMax) {
    await bury(options, logged, reason);
    return;
  }
  options.events.eventFailed({ sequence: logged.sequence, deliveries: logged.deliveries, reason });
  logged.again(askAgainMs);
}

async function bury({ store, events }: StoreBatchOptions, logged: LoggedEvent, error: string): Promise<void> {
  const { sequence, body, deliveries } = logged;
  await store.bury({ sequence, body, error, deliveries });
  logged.ack();
  events.eventBuried({ sequence, deliveries, reason: error });
}
