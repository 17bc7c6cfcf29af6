import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { headers } from '@nats-io/transport-node';
import type { Nats } from '../engines/nats.ts';
import type { Traces } from '../observability/traces.ts';
import type { Item } from '../upstream/item.ts';
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

/** The durable log between the upstreams, which do not deliver again, and the database, which may be slow or down. */
export function createEventLog(
  { jetstream, manager }: Nats,
  { retryForMs = 60_000, traces = null }: { retryForMs?: number; traces?: Traces | null } = {},
) {
  const sameTurn = createSameTurn();
  /** Of each source, the last event that this process knows in the log, and how far the source is consumed behind it. */
  const lastSequence = new Map<string, number>();
  const consumedBehind = new Map<string, { sequence: number; consumed: Consumed }>();
  return {
    /**
     * Resolves when the log has the event on disk; retries under the same message id for a minute, then throws.
     * `consumed` is the upstream position up to which everything is in the log at this moment. It travels with the
     * event, so the log itself says where to resume and no second store can disagree. `giveUp` ends the retries.
     */
    async append(event: LogEvent, consumed: string | null, giveUp?: AbortSignal): Promise<void> {
      const payload = JSON.stringify(event);
      const carried = headers();
      if (consumed !== null) carried.set(consumedHeader, consumed);
      const options = { msgID: messageId(event), headers: carried };
      const subject = subjectOf(event.sourceId);
      const startMs = Date.now();
      const deadline = performance.now() + retryForMs;
      await sameTurn();
      for (;;) {
        try {
          const logged = await jetstream.publish(subject, payload, options);
          lastSequence.set(event.sourceId, Math.max(logged.seq, lastSequence.get(event.sourceId) ?? 0));
          traces?.eventAppended(event, startMs, logged);
          return;
        } catch (error) {
          // The client tries once; an election takes seconds (reliability.md L2). The message id makes retries safe.
          if (performance.now() > deadline || giveUp?.aborted) {
            traces?.eventAppended(event, startMs, null);
            throw error;
          }
          await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
        }
      }
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
 * All callers of one turn of the event loop resume together in the next: the client then writes their messages to the
 * socket at once and the log syncs them once, instead of one write and one sync per event.
 */
function createSameTurn(): () => Promise<void> {
  let turn: Promise<void> | null = null;
  return () => {
    turn ??= nextTurn().finally(() => {
      turn = null;
    });
    return turn;
  };
}

/**
 * The rules are part of the id: a post that is delivered again for a rule registered meanwhile is a new message. So is the UTC
 * day: a post that is delivered again on another day is billed again. All this only saves work: the database's keys keep what
 * is delivered twice from being stored twice.
 */
function messageId(event: LogEvent): string {
  const rules = event.rules.map((rule) => rule.upstreamRuleId).toSorted();
  const digest = createHash('sha256').update(rules.join(',')).digest('base64url').slice(0, 8);
  const day = new Date().toISOString().slice(0, 10);
  return `${event.sourceId}:${event.upstreamEventId}:${digest}:${day}`;
}
