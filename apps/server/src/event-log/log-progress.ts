import type { Nats } from '../engines/nats.ts';
import { pause } from '../runtime/worker.ts';
import { readEvent } from './event-consumer.ts';
import type { LogEvent } from './event-log.ts';
import { unpackBodies } from './event-message.ts';
import { eventsStream, matchConsumer, subjectOf } from './events-stream.ts';

/** The last sequence of the event log, and the last one whose events are matched. */
export function createMatchProgress({ manager }: Nats) {
  return {
    logged: async () => (await manager.streams.info(eventsStream)).state.last_seq,
    matched: async () => (await manager.consumers.info(eventsStream, matchConsumer)).ack_floor.stream_seq,
  };
}

export type MatchProgress = ReturnType<typeof createMatchProgress>;

/**
 * Waits until the event log is matched through a sequence. Returns false if the signal is aborted, or if the log seems to be lost, because
 * lost events are never matched. That is no proof of a loss: a former leader returns an outdated log.
 */
export async function awaitMatched(
  progress: MatchProgress,
  { through, pollIntervalMs }: { readonly through: number; readonly pollIntervalMs: number },
  signal: AbortSignal,
): Promise<boolean> {
  while ((await progress.matched()) < through) {
    await pause(pollIntervalMs, signal);
    if (signal.aborted || (await progress.logged()) < through) return false;
  }
  return true;
}

/** The newest event of a source in the log. */
export interface LastEvent {
  readonly loggedAt: Date;
  readonly event: LogEvent;
}

export async function readLastEvent({ manager }: Nats, sourceId: string): Promise<LastEvent | null> {
  const last = await manager.streams.getMessage(eventsStream, { last_by_subj: subjectOf(sourceId) });
  const event = last && readEvent(unpackBodies(last.string()).at(-1) ?? '');
  return event && { loggedAt: last.time, event };
}
