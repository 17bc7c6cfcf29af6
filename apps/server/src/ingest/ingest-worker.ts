import type { Platform } from '@earshot/contract';
import type { Bells } from '../engines/bells.ts';
import { createLeasedWorker, type Lease, type LeasedWorkerOptions } from '../engines/leases.ts';
import type { EventLog } from '../event-log/event-log.ts';
import type { Events } from '../observability/events.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { pause, type Worker } from '../runtime/worker.ts';
import { StreamEnded, type StreamEnding, type UpstreamStream } from '../upstream/upstream-stream.ts';
import { openConnectBudget } from './connect-budget.ts';
import { afterEnding, afterOpening, type NextAttempt, newConnector, type Protocol } from './connector.ts';
import type { ConnectorStore } from './connector-store.ts';
import { type ListenOptions, listen } from './listen.ts';
import { createShowState } from './show-state.ts';
import type { SourceStore } from './source-store.ts';
import { watchVolume } from './watch-volume.ts';

export interface IngestOptions extends LeasedWorkerOptions {
  readonly sourceId: string;
  readonly platform: Platform;
  readonly protocol: Protocol;
  readonly upstream: UpstreamStream;
  /** Ends connections that take the place of our own; null where the upstream has no such thing. */
  readonly freeSlot: ((signal: AbortSignal) => Promise<number>) | null;
  readonly eventLog: EventLog;
  readonly store: SourceStore;
  readonly connectors: ConnectorStore;
  readonly bells: Bells;
  readonly random: () => number;
  readonly events: Events;
  readonly checkpoint?: Checkpoint;
  /** What the watch over the volume takes for a minute. */
  readonly minuteMs?: number;
}

/** Holds the stream of one source open, under its lease, and puts what it delivers into the event log. */
export function createIngestWorker(options: IngestOptions): Worker {
  const name = `ingest:${options.sourceId}`;
  return createLeasedWorker({ name, outlivesStore: true }, options, (lease, held) =>
    keepListening(options, lease, held),
  );
}

/** The shell around connector.ts: it connects, tells how that ended, and does what it is told. */
async function keepListening(options: IngestOptions, lease: Lease, signal: AbortSignal): Promise<void> {
  const { platform, sourceId, protocol, connectors, bells, events, random, minuteMs = 60_000 } = options;
  using bell = bells.listen('streams');
  const budget = await openConnectBudget({ sourceId, limit: protocol.connects, store: connectors, lease });
  const show = createShowState(options, lease);
  let connector = newConnector;
  let openedAt: number | null = null;
  using volume = watchVolume({
    ...options,
    usual: await connectors.usualPerMinute(sourceId),
    keep: (usual) => connectors.recordUsual(lease, sourceId, usual),
    wasOpen: () => openedAt !== null && performance.now() - openedAt >= minuteMs,
    minuteMs,
  });
  const onOpened = () => {
    openedAt = performance.now();
    connector = afterOpening(connector);
    void show({ state: connector.shows, detail: null, nextAttemptInMs: null });
  };
  while (!signal.aborted) {
    await budget.take(signal);
    if (signal.aborted) break;
    events.connecting(platform);
    options.checkpoint?.('ingest.permitted');
    const { ending, detail } = await listenOnce({ ...options, eventLog: volume.eventLog, onOpened }, signal);
    if (signal.aborted) break;
    const openMs = openedAt === null ? null : performance.now() - openedAt;
    openedAt = null;
    const after = afterEnding(protocol, connector, { ending, openMs, random });
    connector = after.connector;
    const delayMs = Math.max(after.next.delayMs, budget.waitMs());
    events.streamEnded({ platform, sourceId, kind: ending.kind, retryInMs: delayMs, detail });
    void show({ state: connector.shows, detail, nextAttemptInMs: delayMs });
    if (after.next.explainsGap) {
      // Awaited: later it would speak of the next interval. Written again if the database is away and it lasts.
      await connectors.explainGap(lease, sourceId, ending.kind).catch(() => undefined);
    }
    await beforeNext(options, { lease, bell, signal }, { ...after.next, delayMs });
  }
  await show({ state: 'stopped', detail: null, nextAttemptInMs: null });
}

interface Holding {
  readonly lease: Lease;
  readonly bell: { wait(ms: number, signal: AbortSignal): Promise<void> };
  readonly signal: AbortSignal;
}

async function beforeNext(options: IngestOptions, holding: Holding, next: NextAttempt): Promise<void> {
  const { signal, bell } = holding;
  if (next.freesSlot) await freeSlot(options, holding);
  if (next.wakes) await bell.wait(next.delayMs, signal);
  else await pause(next.delayMs, signal);
}

/** Only under a lease that is proven at this moment: what X still counts is then the stream of a dead process. */
async function freeSlot(
  { freeSlot: free, connectors, sourceId, events }: IngestOptions,
  { lease, signal }: Holding,
): Promise<void> {
  if (!free) return;
  await connectors.assertHeld(lease);
  // It failed like the connection before it: the next attempt tells.
  const count = await free(signal).catch(() => 0);
  if (count > 0) events.slotFreed({ sourceId, count });
}

async function listenOnce(
  options: ListenOptions,
  signal: AbortSignal,
): Promise<{ ending: StreamEnding; detail: string }> {
  try {
    await listen(options, signal);
    return { ending: { kind: 'dropped' }, detail: 'the stream ended' };
  } catch (error) {
    if (error instanceof StreamEnded) return { ending: error.ending, detail: error.message };
    throw error;
  }
}
