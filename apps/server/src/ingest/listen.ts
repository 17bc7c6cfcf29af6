import type { Platform } from '@earshot/contract';
import type { Bells } from '../engines/bells.ts';
import type { EventLog } from '../event-log/event-log.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { createEventLoopYield } from '../runtime/concurrency.ts';
import { repeat } from '../runtime/worker.ts';
import type { Item } from '../upstream/item.ts';
import { platforms } from '../upstream/platforms.ts';
import { dropItem, readItem } from '../upstream/read-item.ts';
import { StreamEnded, type StreamEnding, type UpstreamStream } from '../upstream/upstream-stream.ts';
import { type Consecutive, createConsecutive } from './consecutive.ts';
import type { CoverageIntervals } from './coverage-intervals.sql.ts';
import { createReadingLag, type ReadingLag } from './reading-lag.ts';
import { createSuspensionDetector } from './suspension.ts';

/** Items that the log has not acknowledged. At this limit, reading stops. */
const inFlightMax = 256;
/** How long a shutdown waits for a log that refuses items. Abandoned items become a gap, or are replayed. */
const giveUpAfterMs = 3_000;
/** The stream stays open this long while the log refuses items. NATS elections and restarts are shorter. */
const refusedMsMax = 60_000;
/** The ends of a gap are accurate to 2 s, even after a crash. Half of that leaves room for delays. */
const proveEveryMs = 1_000;
/** After this long, a proof is stuck. It is half of the time for which a proof keeps the source live. */
const proofStuckAfterMs = 5_000;
/** A single refused proof may come from a database server that was replaced. Two in a row mean a loss. */
const refusalsUntilLost = 2;

/** How often the position of a stream in which nothing matches is stored. */
const markEveryMs = 10_000;

/** Removes items that their authors delete, on platforms that say so in the stream. */
export interface Deletions {
  /** The item is in the event log, or on its way. */
  appended(key: string): void;
  /** Resolves when the item is removed, or was never stored. */
  remove(deleted: { readonly platformPostId: string; readonly key: string }): Promise<void>;
}

export interface ListenOptions {
  readonly sourceId: string;
  readonly platform: Platform;
  readonly upstream: UpstreamStream;
  readonly eventLog: Omit<EventLog, 'probe'>;
  readonly intervals: Omit<CoverageIntervals, 'explainGap'>;
  readonly deletions?: Deletions | null;
  readonly bells: Bells;
  readonly telemetry: Telemetry;
  readonly nowMs: () => number;
  readonly onOpened?: () => void;
  /** May be called long before `listen` returns. */
  readonly onClosed?: () => void;
  readonly checkpoint?: Checkpoint;
}

/**
 * Runs one connection from its opening to its end. It returns when all received items are in the log, however long
 * the log refuses them. Only a shutdown stops waiting after a moment.
 */
export async function listen(options: ListenOptions, signal: AbortSignal): Promise<void> {
  const { sourceId, upstream, eventLog, intervals, deletions } = options;
  const logged = await eventLog.consumedBy(sourceId);
  const after = (await intervals.hasLostLog(sourceId)) ? null : (logged?.position ?? null);
  const since = await intervals.uncoveredSince(sourceId);
  const consumed = createConsecutive(after);
  const logFailed = new AbortController();
  const ledgerLost = new AbortController();
  using giveUp = abortLater(signal, giveUpAfterMs);
  const appender = createAppender(options, consumed, { logFailed, giveUp: giveUp.signal });
  const lag = createReadingLag(() => performance.now());
  const from = after ?? since?.toISOString() ?? 'now';
  const coverage = createCoverage(options, { appender, lag, ledgerLost, logFailed }, from);
  using marks = createMarks(options, consumed, giveUp.signal);
  const yieldIfDue = createEventLoopYield();
  const ends = [signal, logFailed.signal, ledgerLost.signal];
  const start = { after, afterAt: logged?.at ?? null, since, now: new Date(options.nowMs()) };
  let ending: StreamEnding = { kind: 'dropped' };
  try {
    for await (const frame of upstream.open(start, AbortSignal.any(ends))) {
      lag.arrived();
      coverage.received();
      if (frame.kind === 'opened') {
        await coverage.open();
      } else if (frame.kind === 'lost') {
        await intervals.recordLost(sourceId, frame.before);
      } else if (frame.kind === 'passed') {
        consumed.begin(frame.upstreamId).done();
        marks.passed();
      } else if (frame.kind === 'deleted') {
        const entry = consumed.begin(frame.upstreamId);
        void deletions?.remove(frame).then(() => entry.done());
      } else if (frame.kind !== 'alive') {
        const item = frame.kind === 'item' ? readItem(options, frame) : dropItem(options, frame.kind);
        options.checkpoint?.('ingest.read');
        if (item) {
          deletions?.appended(item.key);
          await appender.append(item);
        } else if (frame.upstreamId !== null) consumed.begin(frame.upstreamId).done();
        // A burst fills the socket buffers. Matching and lease renewals must still run.
        await yieldIfDue();
      }
      lag.waits();
    }
  } catch (error) {
    lag.arrived();
    if (error instanceof StreamEnded) ending = error.ending;
    if (signal.aborted || !ends.some(({ aborted }) => aborted)) throw error;
    const kind = ledgerLost.signal.aborted ? 'log_lost' : 'log_unavailable';
    ending = { kind };
    throw new StreamEnded(ending, endingDetails[kind], error);
  } finally {
    options.checkpoint?.('ingest.ended');
    try {
      // Closed before the log has everything, which may take as long as an outage. Items that are not in the log yet
      // are not covered.
      await coverage.close(signal.aborted ? { kind: 'stopped' } : ending);
    } finally {
      options.onClosed?.();
      await appender.drained();
      options.checkpoint?.('ingest.drained');
      const position = consumed.position();
      if (position !== null && position !== after) eventLog.recordConsumed(sourceId, position);
    }
  }
}

/** Stores the position in the event log now and then, if items pass that do not match. */
function createMarks(
  { platform, sourceId, eventLog }: ListenOptions,
  consumed: Consecutive,
  giveUp: AbortSignal,
): Disposable & { passed(): void } {
  let hasPassed = false;
  let marked = consumed.position();
  const marking = repeat(markEveryMs, async () => {
    const position = consumed.position();
    if (!hasPassed || position === null || position === marked) return;
    hasPassed = false;
    marked = position;
    await eventLog.mark(platform, sourceId, position, giveUp);
  });
  return {
    passed() {
      hasPassed = true;
    },
    [Symbol.dispose]: () => marking[Symbol.dispose](),
  };
}

interface Appender {
  append(item: Item): Promise<void>;
  drained(): Promise<void>;
  /** Age of the oldest item that is pending or was refused; 0 if there is none. */
  behindMs(): number;
}

/** Appends items in order of arrival, with a limited number in flight. */
function createAppender(
  { eventLog, telemetry, checkpoint }: ListenOptions,
  consumed: Consecutive,
  { logFailed, giveUp }: { logFailed: AbortController; giveUp: AbortSignal },
): Appender {
  const inFlight = new Map<Promise<void>, number>();
  let refusedAt = Number.POSITIVE_INFINITY;
  let room: PromiseWithResolvers<void> | null = null;
  const wake = () => {
    room?.resolve();
    room = null;
  };
  logFailed.signal.addEventListener('abort', wake, { once: true });
  return {
    async append(item) {
      const receivedMs = Date.now();
      if (inFlight.size >= inFlightMax && !logFailed.signal.aborted) {
        room = Promise.withResolvers();
        await room.promise;
      }
      if (logFailed.signal.aborted) return;
      const entry = consumed.begin(item.upstreamEventId);
      const arrivedAt = performance.now();
      const appending: Promise<void> = eventLog
        .append({ ...item, receivedMs }, consumed.position(), giveUp)
        .then(
          () => {
            checkpoint?.('ingest.appended');
            entry.done();
            telemetry.eventLogged({ platform: item.platform, ms: Date.now() - receivedMs });
          },
          () => {
            refusedAt = Math.min(refusedAt, arrivedAt);
            logFailed.abort();
          },
        )
        .finally(() => {
          inFlight.delete(appending);
          wake();
        });
      inFlight.set(appending, arrivedAt);
    },
    async drained() {
      await Promise.all(inFlight.keys());
    },
    behindMs() {
      const now = performance.now();
      return now - Math.min(now, refusedAt, ...inFlight.values());
    },
  };
}

interface CoverageInputs {
  readonly appender: Appender;
  readonly lag: ReadingLag;
  readonly ledgerLost: AbortController;
  readonly logFailed: AbortController;
}

/**
 * The ledger interval of the connection: opened when the platform accepts it, proven while it lasts, closed at its
 * end.
 */
function createCoverage(
  { intervals, sourceId, platform, bells, telemetry, onOpened, checkpoint }: ListenOptions,
  { appender, lag, ledgerLost, logFailed }: CoverageInputs,
  from: string,
) {
  let id: number | null = null;
  const periodic = new DisposableStack();
  let uncertainMs = () => 0;
  const { sendsKeepAlives } = platforms[platform];
  let receivedAt = 0;
  return {
    received(): void {
      receivedAt = performance.now();
    },
    async open(): Promise<void> {
      const interval = await intervals.openCoverage(sourceId);
      id = interval.id;
      let { provenUntil } = interval;
      let refusals = 0;
      const suspension = createSuspensionDetector(() => performance.now());
      uncertainMs = () => suspension.uncertainMs();
      const watch = () => {
        suspension.check();
        if (appender.behindMs() > refusedMsMax) logFailed.abort();
      };
      const prove = async () => {
        // Items that are not in the log yet are not covered. A skipped proof makes a gap longer, never shorter.
        const behindMs = Math.max(appender.behindMs(), lag.behindMs());
        if (!suspension.check() || behindMs > proveEveryMs) return;
        const silentMs = sendsKeepAlives ? performance.now() - receivedAt : 0;
        const proven = await intervals.proveCoverage(sourceId, { ...interval, provenUntil }, silentMs);
        checkpoint?.('ingest.proven');
        if (proven !== null && proven > provenUntil) provenUntil = proven;
        refusals = proven === null ? refusals + 1 : 0;
        if (refusals === refusalsUntilLost) ledgerLost.abort();
      };
      // Separate, because the detector of suspensions must not wait for a proof.
      periodic.use(repeat(proveEveryMs, watch));
      periodic.use(repeat(proveEveryMs, prove, { stuckAfterMs: proofStuckAfterMs }));
      checkpoint?.('ingest.opened');
      telemetry.streamOpened({ platform, sourceId, from });
      onOpened?.();
      bells.ring('slot_outcomes');
      bells.ring('notices');
    },
    async close(ending: StreamEnding): Promise<void> {
      periodic.dispose();
      const silentMs = ending.kind === 'stalled' ? ending.silentMs : 0;
      const uncoveredMs = Math.max(silentMs, appender.behindMs(), lag.behindMs(), uncertainMs());
      const end = { because: ending.kind, uncoveredMs: ending.kind === 'log_lost' ? null : uncoveredMs };
      if (id !== null) await intervals.closeCoverage(sourceId, id, end);
    },
  };
}

const endingDetails = {
  log_unavailable: 'the event log refused events',
  log_lost: 'the event log or the database was restored to an earlier state',
} as const;

/** A signal that is aborted some time after another one. */
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
