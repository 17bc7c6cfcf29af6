import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { headers } from '@nats-io/transport-node';
import type { Nats } from '../engines/nats.ts';
import type { StreamEvent } from '../upstream/item.ts';
import type { EventLog } from './event-log-port.ts';
import { eventsStream, subjectOf } from './events-stream.ts';

const consumedHeader = 'Earshot-Consumed';
const retryDelayMs = 250;

export function createEventLog({ jetstream, manager }: Nats, { retryForMs = 60_000 } = {}): EventLog {
  const together = createTogether();
  return {
    async append(event, consumed, giveUp) {
      const payload = JSON.stringify(event);
      const carried = headers();
      if (consumed !== null) carried.set(consumedHeader, consumed);
      const options = { msgID: messageId(event), headers: carried };
      const subject = subjectOf(event.sourceId);
      const deadline = performance.now() + retryForMs;
      await together();
      for (;;) {
        try {
          await jetstream.publish(subject, payload, options);
          return;
        } catch (error) {
          // The client tries once; an election takes seconds (reliability.md L2). The message id makes it safe.
          if (performance.now() > deadline || giveUp?.aborted) throw error;
          await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
        }
      }
    },
    async consumedBy(sourceId) {
      const last = await manager.streams.getMessage(eventsStream, { last_by_subj: subjectOf(sourceId) });
      return last?.header.get(consumedHeader) || null;
    },
  };
}

/**
 * Those who come within one turn of the event loop go on in the same one: the client then writes their messages to the
 * socket at once, and the log takes them with one sync, where each alone would cost both.
 */
function createTogether(): () => Promise<void> {
  let turn: Promise<void> | null = null;
  return () => {
    turn ??= nextTurn().finally(() => {
      turn = null;
    });
    return turn;
  };
}

/**
 * The rules belong to the id: a post that is delivered again with another rule, newly registered, is news. The
 * database's keys decide what is stored twice; this only saves work.
 */
function messageId(event: StreamEvent): string {
  const rules = event.rules.map((rule) => rule.upstreamRuleId).toSorted();
  const digest = createHash('sha256').update(rules.join(',')).digest('base64url').slice(0, 8);
  return `${event.sourceId}:${event.upstreamEventId}:${digest}`;
}
