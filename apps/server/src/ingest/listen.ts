import type { Platform } from '@earshot/contract';
import type { Bells } from '../engines/bells.ts';
import type { EventLog } from '../event-log/event-log.ts';
import type { Events } from '../observability/events.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { createEventLoopYield } from '../runtime/concurrency.ts';
import type { StreamEvent } from '../upstream/item.ts';
import { dropItem, readItem } from '../upstream/read-item.ts';
import { StreamEnded, type StreamEnding, type UpstreamStream } from '../upstream/upstream-stream.ts';
import { type Consecutive, createConsecutive } from './consecutive.ts';
import { createReadingLag, type ReadingLag } from './reading-lag.ts';
import type { SourceStore } from './source-store.ts';
import { createWakefulness } from './wakefulness.ts';

/** Events between the socket and the log's acknowledgement. When it is full, the socket waits. */
const inFlightMax = 256;
/** How long a shutdown waits for a log that does not take events. What is given up is on the ledger, or resumed. */
const giveUpAfterMs = 3_000;
/** The ledger promises the ends of a gap to within 2 s, also after a crash: half of it leaves room for a slow moment. */
const proveEveryMs = 1_000;

export interface ListenOptions {
  readonly sourceId: string;
  readonly platform: Platform;
  readonly upstream: UpstreamStream;
  readonly eventLog: EventLog;
  readonly store: SourceStore;
  readonly bells: Bells;
  readonly events: Events;
  readonly onOpened?: () => void;
  readonly checkpoint?: Checkpoint;
}

/**
 * One connection, from opening to its end. Whatever ends it but a shutdown, what was read is in the log before this
 * returns; a shutdown waits for the log only a moment.
 */
export async function listen(options: ListenOptions, signal: AbortSignal): Promise<void> {
  const { sourceId, upstream, eventLog, store } = options;
  const after = await eventLog.consumedBy(sourceId);
  const since = await store.uncoveredSince(sourceId);
  const consumed = createConsecutive(after);
  const logFailed = new AbortController();
  using giveUp = abortLater(signal, giveUpAfterMs);
  const appender = createAppender(options, consumed, { logFailed, giveUp: giveUp.signal });
  const lag = createReadingLag(() => performance.now());
  const from = after ?? since?.toISOString() ?? 'now';
  const coverage = createCoverage(options, { appender, lag }, from);
  const yieldIfDue = createEventLoopYield();
  let ending: StreamEnding = { kind: 'dropped' };
  try {
    for await (const frame of upstream.open({ after, since }, AbortSignal.any([signal, logFailed.signal]))) {
      lag.came();
      coverage.heard();
      if (frame.kind === 'opened') {
        await coverage.open();
      } else if (frame.kind !== 'alive') {
        const event = frame.kind === 'item' ? readItem(options, frame) : dropItem(options, frame.kind);
        options.checkpoint?.('ingest.read');
        if (event) await appender.append(event);
        // A burst fills the buffers of the socket: matching and leases must have their turn meanwhile.
        await yieldIfDue();
      }
      lag.waits();
    }
  } catch (error) {
    lag.came();
    if (error instanceof StreamEnded) ending = error.ending;
    if (!logFailed.signal.aborted || signal.aborted) throw error;
    ending = { kind: 'log_unavailable' };
    throw new StreamEnded(ending, 'the event log did not take events', error);
  } finally {
    options.checkpoint?.('ingest.ended');
    await appender.drained();
    options.checkpoint?.('ingest.drained');
    await coverage.close(signal.aborted ? { kind: 'stopped' } : ending);
  }
}

interface Appender {
  append(event: StreamEvent): Promise<void>;
  drained(): Promise<void>;
  /** Age of the oldest event that is not in the log: still on its way, or turned down. 0 without one. */
  behindMs(): number;
}

/** A window of appends: hands the next event over as soon as there is room, in the order of arrival. */
function createAppender(
  { eventLog, events, checkpoint }: ListenOptions,
  consumed: Consecutive,
  { logFailed, giveUp }: { logFailed: AbortController; giveUp: AbortSignal },
): Appender {
  const inFlight = new Map<Promise<void>, number>();
  let turnedDownAt = Number.POSITIVE_INFINITY;
  return {
    async append(event) {
      if (inFlight.size >= inFlightMax) await Promise.race(inFlight.keys());
      if (logFailed.signal.aborted) return;
      const entry = consumed.begin(event.upstreamEventId);
      const arrivedAt = performance.now();
      const appending: Promise<void> = eventLog
        .append(event, consumed.position(), giveUp)
        .then(
          () => {
            checkpoint?.('ingest.appended');
            entry.done();
            events.eventLogged(event.platform);
          },
          () => {
            turnedDownAt = Math.min(turnedDownAt, arrivedAt);
            logFailed.abort();
          },
        )
        .finally(() => inFlight.delete(appending));
      inFlight.set(appending, arrivedAt);
    },
    async drained() {
      await Promise.all(inFlight.keys());
    },
    behindMs() {
      const now = performance.now();
      return now - Math.min(now, turnedDownAt, ...inFlight.values());
    },
  };
}

/** The interval on the ledger: opened when the upstream accepts, proven while it lasts, closed at its end. */
function createCoverage(
  { store, sourceId, platform, bells, events, onOpened, checkpoint }: ListenOptions,
  { appender, lag }: { appender: Appender; lag: ReadingLag },
  from: string,
) {
  let id: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  let asleepMs = () => 0;
  let heardAt = 0;
  return {
    heard(): void {
      heardAt = performance.now();
    },
    async open(): Promise<void> {
      id = await store.openCoverage(sourceId);
      const coverageId = id;
      const wakefulness = createWakefulness(() => performance.now());
      asleepMs = () => wakefulness.asleepMs();
      timer = setInterval(() => {
        // Heard is not kept. And a missed proof only makes the ledger more careful than the truth.
        const behindMs = Math.max(appender.behindMs(), lag.behindMs());
        if (!wakefulness.look() || behindMs > proveEveryMs) return;
        // A quiet tap of Firehose sends nothing at all; what it missed is resumed anyway.
        const silentMs = platform === 'x' ? performance.now() - heardAt : 0;
        store.proveCoverage(sourceId, coverageId, silentMs).then(
          () => checkpoint?.('ingest.proven'),
          () => undefined,
        );
      }, proveEveryMs);
      checkpoint?.('ingest.opened');
      events.streamOpened({ platform, sourceId, from });
      onOpened?.();
      bells.ring('slot_outcomes');
    },
    async close(ending: StreamEnding): Promise<void> {
      clearInterval(timer);
      const silentMs = ending.kind === 'stalled' ? ending.silentMs : 0;
      const uncoveredMs = Math.max(silentMs, appender.behindMs(), lag.behindMs(), asleepMs());
      if (id !== null) await store.closeCoverage(sourceId, id, { because: ending.kind, uncoveredMs });
    },
  };
}

/** A signal that follows another one after a while. */
function abortLater(signal: AbortSignal, afterMs: number): Disposable & { readonly signal: AbortSignal } {
  const later = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const begin = () => {
    timer = setTimeout(() => later.abort(), afterMs);
  };
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  return {
    signal: later.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      signal.removeEventListener('abort', begin);
    },
  };
}
