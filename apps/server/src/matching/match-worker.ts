import type { StreamEvent } from '../ingest/stream-event.ts';
import { unexplainedOperators } from '../language/explain-match.ts';
import type { ParsedRules } from '../language/parsed-rules.ts';
import type { Events } from '../observability/events.ts';
import type { Bells } from '../runtime/bell.ts';
import { createBreather } from '../runtime/breather.ts';
import type { Worker } from '../runtime/worker.ts';
import type { EventSource, LoggedEvent } from './event-source.ts';
import { matchEvents, slotReferences } from './match-events.ts';
import type { MatchStore } from './match-store.ts';

const batchMax = 500;
const askAgainMs = 1_000;
/** With the delay above: longer than a registration can hang between the upstream's yes and our record. */
const deliveriesMax = 45;

export interface MatchWorkerOptions {
  readonly name: string;
  readonly installation: string;
  readonly source: EventSource;
  readonly store: MatchStore;
  readonly parsedRules: ParsedRules;
  readonly bells: Bells;
  readonly events: Events;
}

/**
 * Events to matches: read, resolve, write in one transaction, then acknowledge, then wake the readers. Any
 * number of these may run; what is delivered twice is stored once.
 */
export function createMatchWorker(options: MatchWorkerOptions): Worker {
  return {
    name: options.name,
    async run(signal) {
      for await (const batch of options.source.batches(batchMax, signal)) await storeBatch(options, batch);
    },
  };
}

async function storeBatch(options: MatchWorkerOptions, batch: readonly LoggedEvent[]): Promise<void> {
  const { installation, store, bells, events } = options;
  const startedAt = performance.now();
  const inRange = await withinPartitions(options, batch);
  const streamEvents = inRange.map(({ event }) => event);
  const holders = await store.holdersOf(slotReferences(installation, streamEvents));
  const { posts, matches, unknown, verdicts } = matchEvents(installation, streamEvents, holders);
  const stored = await store.write(posts, matches);
  const registering = await store.sourcesRegistering([...unknown].map((event) => event.sourceId));
  for (const logged of batch) {
    const { event } = logged;
    if (unknown.has(event) && registering.has(event.sourceId) && logged.deliveries < deliveriesMax) {
      logged.again(askAgainMs);
      continue;
    }
    if (unknown.has(event)) events.itemDropped({ platform: event.platform, reason: 'unknown_rule' });
    logged.ack();
  }
  if (matches.length > 0) bells.ring('matches');
  await countUnexplained(options, verdicts);
  events.batchStored({ events: batch.length, matches: stored, ms: performance.now() - startedAt });
}

/** A time that cannot be true has no partition; such an event is dropped, not the whole batch. */
async function withinPartitions(
  { store, events }: MatchWorkerOptions,
  batch: readonly LoggedEvent[],
): Promise<LoggedEvent[]> {
  const { first, last } = await store.days();
  const inRange = (event: StreamEvent) => event.day >= first && event.day <= last;
  return batch.filter(({ event }) => {
    if (inRange(event)) return true;
    events.itemDropped({ platform: event.platform, reason: 'time_out_of_range', detail: event.day });
    return false;
  });
}

/** The upstream's verdict stands (I5); where ours differs, somebody should look at the evaluator. */
async function countUnexplained(
  { parsedRules, events }: MatchWorkerOptions,
  verdicts: ReadonlyArray<{ event: StreamEvent; value: string }>,
): Promise<void> {
  const breathe = createBreather();
  for (const { event, value } of verdicts) {
    const { platform, payload, platformPostId } = event;
    const operators = unexplainedOperators(parsedRules, { platform, value, raw: payload.raw });
    for (const operator of operators)
      events.verdictUnexplained({ platform, operator, value, platformPostId });
    await breathe();
  }
}
