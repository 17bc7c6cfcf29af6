import type { Platform } from '@earshot/contract';
import type { Events } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import type { Bells } from '../runtime/bell.ts';
import { type LeaseStore, runUnderLease } from '../runtime/lease.ts';
import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';
import type { EventLog } from './event-log.ts';
import { listen } from './listen.ts';
import { nextAttempt } from './next-attempt.ts';
import type { SourceStore } from './source-store.ts';
import { StreamEnded, type StreamEnding, type UpstreamStream } from './upstream-stream.ts';

/** A connection that lasted this long was healthy: the next failure is the first of its kind again. */
const healthyAfterMs = 60_000;

export interface IngestOptions {
  readonly sourceId: string;
  readonly platform: Platform;
  readonly upstream: UpstreamStream;
  readonly eventLog: EventLog;
  readonly store: SourceStore;
  readonly bells: Bells;
  readonly leases: LeaseStore;
  readonly node: string;
  readonly leaseTtlMs: number;
  readonly random: () => number;
  readonly events: Events;
  readonly log: Logger;
}

/** Holds the stream of one source open, under its lease, and puts what it delivers into the event log. */
export function createIngestWorker(options: IngestOptions): Worker {
  const name = `ingest:${options.sourceId}`;
  return {
    name,
    run: (signal) =>
      runUnderLease(
        {
          store: options.leases,
          name,
          holder: options.node,
          ttlMs: options.leaseTtlMs,
          outlivesStore: true,
          log: options.log,
        },
        signal,
        (_lease, held) => keepListening(options, held),
      ),
  };
}

async function keepListening(options: IngestOptions, signal: AbortSignal): Promise<void> {
  const { platform, sourceId, bells, events, random } = options;
  using bell = bells.listen('streams');
  let last: StreamEnding['kind'] | null = null;
  let inARow = 0;
  while (!signal.aborted) {
    const startedAt = performance.now();
    const { ending, detail } = await listenOnce(options, signal);
    if (signal.aborted) return;
    const healthy = performance.now() - startedAt > healthyAfterMs;
    inARow = ending.kind === last && !healthy ? inARow + 1 : 1;
    last = ending.kind;
    const next = nextAttempt(platform, ending, { inARow, random });
    events.streamEnded({ platform, sourceId, kind: ending.kind, retryInMs: next.delayMs, detail });
    if (next.wakes) await bell.wait(next.delayMs, signal);
    else await pause(next.delayMs, signal);
  }
}

async function listenOnce(
  options: IngestOptions,
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
