import { headers } from '@nats-io/transport-node';
import type { Nats } from '../engines/nats.ts';
import type { Traces } from '../observability/traces.ts';
import type { Item } from '../upstream/item.ts';
import { eventsPerMessageMax, messageIdOf, packBodies, splitIntoMessages } from './event-message.ts';
import { eventsStream, subjectOf } from './events-stream.ts';

/** An item that is in the event log, or on its way into it. */
export interface LogEvent extends Item {
  /** When the stream brought it, by the clock of the node that listened. Absent in what was fetched to fill a gap. */
  readonly receivedMs?: number;
}

const consumedHeader = 'Earshot-Consumed';
const retryDelayMs = 250;

/** Up to this upstream position everything is in the log, or was dropped. */
export interface Consumed {
  readonly position: string;
  readonly at: Date;
}

interface Appending {
  readonly event: LogEvent;
  readonly body: string;
  readonly consumed: string | null;
  readonly giveUp: AbortSignal | undefined;
  readonly startMs: number;
  readonly ended: PromiseWithResolvers<void>;
}

export interface EventLogOptions {
  readonly retryForMs?: number;
  /** Whether events may share a message; version 0.1.0 cannot read it. */
  readonly packs?: boolean;
  readonly traces?: Traces | null;
}

/** The durable log between the upstreams, which do not deliver again, and the database, which may be slow or down. */
export function createEventLog(
  { jetstream, manager }: Nats,
  { retryForMs = 60_000, packs = true, traces = null }: EventLogOptions = {},
) {
  /** Of each source, the last event that this process knows in the log, and how far the source is consumed behind it. */
  const lastSequence = new Map<string, number>();
  const consumedBehind = new Map<string, { sequence: number; consumed: Consumed }>();

  const addToTurn = createTurns<Appending>((arrived) => {
    for (const ofSource of Map.groupBy(arrived, ({ event }) => event.sourceId).values())
      for (const group of splitIntoMessages(ofSource, packs ? eventsPerMessageMax : 1)) void publish(group);
  });

  /** What is tried again is the same message: same events, same id. */
  async function publish(group: readonly Appending[]): Promise<void> {
    const events = group.map(({ event }) => event);
    const sourceId = events[0]?.sourceId ?? '';
    const payload = packBodies(group.map(({ body }) => body));
    const carried = headers();
    // The last one knows most.
    const consumed = group.at(-1)?.consumed ?? null;
    if (consumed !== null) carried.set(consumedHeader, consumed);
    const options = { msgID: messageIdOf(events), headers: carried };
    const deadline = performance.now() + retryForMs;
    for (;;) {
      try {
        const logged = await jetstream.publish(subjectOf(sourceId), payload, options);
        lastSequence.set(sourceId, Math.max(logged.seq, lastSequence.get(sourceId) ?? 0));
        for (const { event, startMs } of group) traces?.eventAppended(event, startMs, logged);
        for (const { ended } of group) ended.resolve();
        return;
      } catch (error) {
        // The client tries once; an election takes seconds (reliability.md L2). The message id makes retries safe.
        if (performance.now() > deadline || group.every(({ giveUp }) => giveUp?.aborted)) {
          for (const { event, startMs } of group) traces?.eventAppended(event, startMs, null);
          for (const { ended } of group) ended.reject(error);
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
      }
    }
  }

  return {
    /**
     * Resolves when the log has the event on disk; retries under the same message id for a minute, then throws. Events of a source
     * that come in one turn of the event loop share a message. `consumed` is the upstream position up to which everything is in the
     * log at this moment. It travels with the event, so the log itself says where to resume and no second store can disagree.
     * `giveUp` ends the retries.
     */
    async append(event: LogEvent, consumed: string | null, giveUp?: AbortSignal): Promise<void> {
      const ended = Promise.withResolvers<void>();
      addToTurn({ event, body: JSON.stringify(event), consumed, giveUp, startMs: Date.now(), ended });
      await ended.promise;
    },
    /**
     * Where to resume the source: from the last event of it in the log, or behind what was consumed after that event, if
     * this process knows.
     */
    async consumedBy(sourceId: string): Promise<Consumed | null> {
      const last = await manager.streams.getMessage(eventsStream, { last_by_subj: subjectOf(sourceId) });
      const sequence = last?.seq ?? 0;
      lastSequence.set(sourceId, sequence);
      const behind = consumedBehind.get(sourceId);
      if (behind?.sequence === sequence) return behind.consumed;
      const position = last?.header.get(consumedHeader);
      return last && position ? { position, at: last.time } : null;
    },
    /**
     * Everything up to `position` is in the log, or was dropped and leaves no trace in it. It is remembered, not stored:
     * with nothing but dropped items in sight, each connection would begin with the same ones again.
     */
    recordConsumed(sourceId: string, position: string): void {
      const consumed = { position, at: new Date() };
      consumedBehind.set(sourceId, { sequence: lastSequence.get(sourceId) ?? 0, consumed });
    },
  };
}

export type EventLog = ReturnType<typeof createEventLog>;

/**
 * Hands over in the next turn of the event loop all that was added in this one. Nobody waits longer for company: under load it comes by
 * itself. The client then writes all messages to the socket at once and the log syncs them once.
 */
function createTurns<Entry>(handOver: (entries: readonly Entry[]) => void): (entry: Entry) => void {
  let added: Entry[] = [];
  return (entry) => {
    if (added.push(entry) > 1) return;
    setImmediate(() => {
      const entries = added;
      added = [];
      handOver(entries);
    });
  };
}
