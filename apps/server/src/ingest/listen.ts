import type { Platform } from '@earshot/contract';
import type { Bells } from '../engines/bells.ts';
import type { EventLog } from '../event-log/event-log.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { createEventLoopYield } from '../runtime/concurrency.ts';
import type { Item } from '../upstream/item.ts';
import { platforms } from '../upstream/platforms.ts';
import { dropItem, readItem } from '../upstream/read-item.ts';
import { StreamEnded, type StreamEnding, type UpstreamStream } from '../upstream/upstream-stream.ts';
import { type Consecutive, createConsecutive } from './consecutive.ts';
import type { CoverageIntervals } from './coverage-intervals.sql.ts';
import { createReadingLag, type ReadingLag } from './reading-lag.ts';
import { createSuspensionDetector } from './suspension.ts';

/** Items between the socket and the log's acknowledgement. When it is full, the socket waits. */
const inFlightMax = 256;
/** How long a shutdown waits for a log that does not take items. What is given up is on the ledger, or resumed. */
const giveUpAfterMs = 3_000;
/** The stream stays open this long while the log takes nothing: elections and restarts of NATS are shorter. */
const refusedMsMax = 60_000;
/** The ledger promises the ends of a gap to within 2 s, also after a crash: half of it leaves room for a slow moment. */
const proveEveryMs = 1_000;
/** One proof at a time, unless its connection seems to be dead: half of the time for which a proof keeps the source live. */
const proofOverdueMs = 5_000;
/** One refused proof may come from a database server that was replaced meanwhile: the next proof has to be refused as well. */
const refusalsUntilLost = 2;

export interface ListenOptions {
  readonly sourceId: string;
  readonly platform: Platform;
  readonly upstream: UpstreamStream;
  readonly eventLog: Omit<EventLog, 'probe'>;
  readonly intervals: Omit<CoverageIntervals, 'explainGap'>;
  readonly bells: Bells;
  readonly telemetry: Telemetry;
  readonly nowMs: () => number;
  readonly onOpened?: () => void;
  /** This may be long before `listen` returns: see there. */
  readonly onClosed?: () => void;
  readonly checkpoint?: Checkpoint;
}

/**
 * One connection, from opening to its end. Whatever ends it but a shutdown, what was read is in the log before this
 * returns, however long the log refuses events; a shutdown waits for the log only a moment.
 */
export async function listen(options: ListenOptions, signal: AbortSignal): Promise<void> {
  const { sourceId, upstream, eventLog, intervals } = options;
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
  const yieldIfDue = createEventLoopYield();
  const ends = [signal, logFailed.signal, ledgerLost.signal];
  const start = { after, afterAt: logged?.at ?? null, since, now: new Date(options.nowMs()) };
  let ending: StreamEnding = { kind: 'dropped' };
  try {
    for await (const frame of upstream.open(start, AbortSignal.any(ends))) {
      lag.came();
      coverage.heard();
      if (frame.kind === 'opened') {
        await coverage.open();
      } else if (frame.kind !== 'alive') {
        const item = frame.kind === 'item' ? readItem(options, frame) : dropItem(options, frame.kind);
        options.checkpoint?.('ingest.read');
        if (item) await appender.append(item);
        else if (frame.upstreamId !== null) consumed.begin(frame.upstreamId).done();
        // A burst fills the buffers of the socket: matching and leases must have their turn meanwhile.
        await yieldIfDue();
      }
      lag.waits();
    }
  } catch (error) {
    lag.came();
    if (error instanceof StreamEnded) ending = error.ending;
    if (signal.aborted || !ends.some(({ aborted }) => aborted)) throw error;
    const kind = ledgerLost.signal.aborted ? 'log_lost' : 'log_unavailable';
    ending = { kind };
    throw new StreamEnded(ending, endingDetails[kind], error);
  } finally {
    options.checkpoint?.('ingest.ended');
    try {
      // Before the log has everything, which may take as long as an outage: what it does not have yet is not covered.
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

interface Appender {
  append(item: Item): Promise<void>;
  drained(): Promise<void>;
  /** Age of the oldest item that is not in the log: still on its way, or turned down. 0 without one. */
  behindMs(): number;
}

/** A window of appends: hands the next item over as soon as there is room, in the order of arrival. */
function createAppender(
  { eventLog, telemetry, checkpoint }: ListenOptions,
  consumed: Consecutive,
  { logFailed, giveUp }: { logFailed: AbortController; giveUp: AbortSignal },
): Appender {
  const inFlight = new Map<Promise<void>, number>();
  let turnedDownAt = Number.POSITIVE_INFINITY;
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
            turnedDownAt = Math.min(turnedDownAt, arrivedAt);
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
      return now - Math.min(now, turnedDownAt, ...inFlight.values());
    },
  };
}

interface Watched {
  readonly appender: Appender;
  readonly lag: ReadingLag;
  readonly ledgerLost: AbortController;
  readonly logFailed: AbortController;
}

/** The interval on the ledger: opened when the upstream accepts, proven while it lasts, closed at its end. */
function createCoverage(
  { intervals, sourceId, platform, bells, telemetry, onOpened, checkpoint }: ListenOptions,
  { appender, lag, ledgerLost, logFailed }: Watched,
  from: string,
) {
  let id: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  let uncertainMs = () => 0;
  const { sendsKeepAlives } = platforms[platform];
  let heardAt = 0;
  return {
    heard(): void {
      heardAt = performance.now();
    },
    async open(): Promise<void> {
      const interval = await intervals.openCoverage(sourceId);
      id = interval.id;
      let { provenUntil } = interval;
      let refusals = 0;
      let provingSince = Number.NEGATIVE_INFINITY;
      const suspension = createSuspensionDetector(() => performance.now());
      uncertainMs = () => suspension.uncertainMs();
      timer = setInterval(() => {
        if (appender.behindMs() > refusedMsMax) logFailed.abort();
        // What was heard but is not in the log yet is not covered. A proof left out makes a gap longer, never shorter.
        const behindMs = Math.max(appender.behindMs(), lag.behindMs());
        if (!suspension.check() || behindMs > proveEveryMs) return;
        const now = performance.now();
        if (now - provingSince < proofOverdueMs) return;
        provingSince = now;
        const silentMs = sendsKeepAlives ? now - heardAt : 0;
        intervals
          .proveCoverage(sourceId, { ...interval, provenUntil }, silentMs)
          .then(
            (proven) => {
              checkpoint?.('ingest.proven');
              if (proven !== null && proven > provenUntil) provenUntil = proven;
              refusals = proven === null ? refusals + 1 : 0;
              if (refusals === refusalsUntilLost) ledgerLost.abort();
            },
            () => undefined,
          )
          .finally(() => {
            if (provingSince === now) provingSince = Number.NEGATIVE_INFINITY;
          });
      }, proveEveryMs);
      checkpoint?.('ingest.opened');
      telemetry.streamOpened({ platform, sourceId, from });
      onOpened?.();
      bells.ring('slot_outcomes');
      bells.ring('notices');
    },
    async close(ending: StreamEnding): Promise<void> {
      clearInterval(timer);
      const silentMs = ending.kind === 'stalled' ? ending.silentMs : 0;
      const uncoveredMs = Math.max(silentMs, appender.behindMs(), lag.behindMs(), uncertainMs());
      const end = { because: ending.kind, uncoveredMs: ending.kind === 'log_lost' ? null : uncoveredMs };
      if (id !== null) await intervals.closeCoverage(sourceId, id, end);
    },
  };
}

const endingDetails = {
  log_unavailable: 'the event log did not take events',
  log_lost: 'the event log or the database has gone back to an earlier state',
} as const;

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
