import type { Platform, SourceState } from '@earshot/contract';
import type { Bells } from '../engines/bells.ts';
import { createLeasedWorker, type Lease, type LeasedWorkerOptions } from '../engines/leases.ts';
import type { AppendWatch } from '../event-log/append-watch.ts';
import type { EventLog } from '../event-log/event-log.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { pause, type Worker } from '../runtime/worker.ts';
import type { Source } from '../upstream/platform.ts';
import type { Protocol } from '../upstream/protocol.ts';
import { StreamEnded, type StreamEnding, type UpstreamStream } from '../upstream/upstream-stream.ts';
import { openConnectBudget } from './connect-budget.ts';
import { afterEnding, afterOpening, type NextAttempt, newConnector } from './connector.ts';
import type { CoverageIntervals } from './coverage-intervals.sql.ts';
import { type Deletions, type ListenOptions, listen } from './listen.ts';
import type { ShownState, SourceStore } from './source-store.sql.ts';
import { watchVolume } from './volume.ts';

export interface IngestOptions extends LeasedWorkerOptions {
  readonly sourceId: string;
  readonly platform: Platform;
  readonly protocol: Protocol;
  readonly upstream: UpstreamStream;
  readonly endStaleConnections: Source['endStaleConnections'];
  readonly eventLog: EventLog;
  readonly appendWatch: AppendWatch;
  readonly intervals: CoverageIntervals;
  readonly deletions?: Deletions | null;
  readonly sources: Omit<SourceStore, 'announce'>;
  readonly bells: Bells;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly telemetry: Telemetry;
  readonly checkpoint?: Checkpoint;
  /** For tests: the length of a minute for the volume watch. */
  readonly minuteMs?: number;
}

/** Keeps the stream of one source open under its lease and appends its items to the event log. */
export function createIngestWorker(options: IngestOptions): Worker {
  const name = `ingest:${options.sourceId}`;
  return createLeasedWorker({ name, outlivesStore: true }, options, (lease, held) =>
    keepListening(options, lease, held).finally(() => options.telemetry.sourceLeft(options.sourceId)),
  );
}

/** Runs the decisions of connector.ts: connects, reports the end of the connection, and waits. */
async function keepListening(options: IngestOptions, lease: Lease, signal: AbortSignal): Promise<void> {
  const { platform, sourceId, protocol, sources, bells, telemetry, random, minuteMs = 60_000 } = options;
  using bell = bells.listen('streams');
  const budget = await openConnectBudget({ sourceId, limit: protocol.connects, sources, lease });
  const show = createShowState(options, lease);
  let connector = newConnector;
  let openedAt: number | null = null;
  let openMs: number | null = null;
  using volume = watchVolume({
    ...options,
    usual: await sources.usualPerMinute(sourceId),
    keep: (usual) => sources.recordUsual(lease, sourceId, usual),
    wasOpen: () => openedAt !== null && performance.now() - openedAt >= minuteMs,
    minuteMs,
  });
  const onClosed = () => {
    if (openedAt !== null) openMs = performance.now() - openedAt;
    openedAt = null;
    telemetry.streamClosed(sourceId);
  };
  const isOpen = () => openedAt !== null;
  const onOpened = () => {
    openedAt = performance.now();
    connector = afterOpening(connector);
    void show({ state: connector.shows, detail: null, nextAttemptInMs: null });
  };
  // Earlier holders have used up the attempts, so the source is disconnected for a while.
  const waitMs = budget.waitMs();
  if (waitMs > 0) void show({ state: 'rate_limited', detail: attemptsUsedUp, nextAttemptInMs: waitMs });
  while (!signal.aborted) {
    await budget.take(signal);
    if (signal.aborted) break;
    openMs = null;
    const listening = { ...options, eventLog: volume.eventLog, onOpened, onClosed };
    const { ending, detail } = await listenWhenLogged(listening, { lease, show, isOpen }, signal);
    if (signal.aborted) break;
    const after = afterEnding(protocol, connector, { ending, openMs, random });
    connector = after.connector;
    const delayMs = Math.max(after.next.delayMs, budget.waitMs());
    telemetry.streamEnded({ platform, sourceId, kind: ending.kind, retryInMs: delayMs, detail });
    const resetsAt = ending.kind === 'budget' ? ending.resetsAt : null;
    void show({ state: connector.shows, detail, nextAttemptInMs: delayMs, resetsAt });
    if (after.next.explainsGap) {
      // Awaited, because a later write would change the next interval. If the database is down, the next attempt
      // writes it.
      await options.intervals.explainGap(lease, sourceId, ending.kind).catch(() => undefined);
    }
    await beforeNext(options, { lease, bell, signal }, { ...after.next, delayMs });
  }
  await show({ state: 'stopped', detail: null, nextAttemptInMs: null });
}

const attemptsUsedUp = 'the connection attempts that the platform allows are used up';

interface ListenContext {
  readonly lease: Lease;
  readonly show: (shown: ShownState) => unknown;
  /** True while the stream is open. */
  readonly isOpen: () => boolean;
}

/**
 * Opens the stream once the log accepts events, because items are billed even if the log refuses them. Only a probe
 * message proves that: a nats-server that could not write to its disk still answers everything else. Until the log has
 * all received items, the state shows whether the log refuses events, and the gap has that reason.
 */
async function listenWhenLogged(
  options: IngestOptions & ListenOptions,
  { lease, show, isOpen }: ListenContext,
  signal: AbortSignal,
): Promise<{ ending: StreamEnding; detail: string }> {
  const { sourceId, platform, appendWatch, eventLog, intervals, telemetry } = options;
  let explaining: Promise<unknown> = Promise.resolve();
  const explainGap = () => {
    if (appendWatch.refusing() === null || isOpen()) return;
    explaining = intervals.explainGap(lease, sourceId, 'log_unavailable').catch(() => undefined);
  };
  using _refusals = appendWatch.listen((detail) => {
    if (detail !== null) void show({ state: 'log_unavailable', detail, nextAttemptInMs: null });
    else if (isOpen()) void show({ state: 'live', detail: null, nextAttemptInMs: null });
    explainGap();
  });
  try {
    await eventLog.probe(platform, signal);
    // A later write would change the next interval.
    await explaining;
    telemetry.connecting(platform);
    options.checkpoint?.('ingest.permitted');
    const onClosed = () => {
      options.onClosed?.();
      explainGap();
    };
    return await listenOnce({ ...options, onClosed }, signal);
  } catch (error) {
    if (signal.aborted) return { ending: { kind: 'stopped' }, detail: 'stopped' };
    throw error;
  } finally {
    await explaining;
  }
}

interface Holding {
  readonly lease: Lease;
  readonly bell: { wait(ms: number, signal: AbortSignal): Promise<void> };
  readonly signal: AbortSignal;
}

async function beforeNext(options: IngestOptions, holding: Holding, next: NextAttempt): Promise<void> {
  const { signal, bell } = holding;
  if (next.endsStaleConnections) await endStaleConnections(options, holding);
  if (next.wakes) await bell.wait(next.delayMs, signal);
  else await pause(next.delayMs, signal);
}

/**
 * Requires a lease that is verified now. Then every other connection that the platform counts belongs to a dead
 * process. This is not safe if two installations share a token.
 */
async function endStaleConnections(options: IngestOptions, { lease, signal }: Holding): Promise<void> {
  const { sources, sourceId, telemetry } = options;
  if (!options.endStaleConnections) return;
  await sources.assertHeld(lease);
  // If this fails, the next connection attempt reports it.
  const count = await options.endStaleConnections(signal).catch(() => 0);
  if (count > 0) telemetry.staleConnectionsEnded({ sourceId, count });
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

/**
 * Publishes the state of a source: in the database each time, in the log and metrics on a change. Resolves when it is
 * written or has failed. The stream must not stop because the database is down.
 */
function createShowState(options: IngestOptions, lease: Lease): (shown: ShownState) => Promise<unknown> {
  const { platform, sourceId, sources, bells, telemetry } = options;
  let before: SourceState = 'stopped';
  let writing: Promise<unknown> = Promise.resolve();
  return (shown) => {
    if (shown.state !== before) telemetry.sourceStateChanged({ platform, sourceId, from: before, ...shown });
    before = shown.state;
    writing = writing
      .then(() => sources.recordState(lease, sourceId, shown))
      .then(() => bells.ring('notices'))
      .catch(() => undefined);
    return writing;
  };
}
