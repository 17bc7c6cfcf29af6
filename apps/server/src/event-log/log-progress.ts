import type { Nats } from '../engines/nats.ts';
import { pause } from '../runtime/worker.ts';
import { readEvent } from './event-consumer.ts';
import type { LogEvent } from './event-log.ts';
import { unpackBodies } from './event-message.ts';
import { eventsStream, matchConsumer, subjectOf } from './events-stream.ts';

/** Up to which sequence the event log is written, and up to which its events have become matches. */
export function createMatchProgress({ manager }: Nats) {
  return {
    logged: async () => (await manager.streams.info(eventsStream)).state.last_seq,
    matched: async () => (await manager.consumers.info(eventsStream, matchConsumer)).ack_floor.stream_seq,
  };
}

export type MatchProgress = ReturnType<typeof createMatchProgress>;

/**
 * Waits until everything that is in the event log by now, or `through` a sequence of it, has become matches, or the signal is
 * aborted, or the log is lost: what was in it never will.
 */
export async function awaitMatched(
  progress: MatchProgress,
  { through, lookEveryMs }: { readonly through?: number; readonly lookEveryMs: number },
  signal: AbortSignal,
): Promise<void> {
  const logged = through ?? (await progress.logged());
  while (!signal.aborted && (await progress.matched()) < logged) {
    await pause(lookEveryMs, signal);
    if ((await progress.logged()) < logged) return;
  }
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
