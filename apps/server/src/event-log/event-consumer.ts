import type { JsMsg } from '@nats-io/jetstream';
import type { Nats } from '../engines/nats.ts';
import type { LogEvent } from './event-log.ts';
import { eventsStream, eventsUnacknowledgedMax, matchConsumer } from './events-stream.ts';

/** An event from the log, to be acknowledged once its matches are committed. */
export interface LoggedEvent {
  /** Its position in the log. */
  readonly sequence: number;
  /** When the log took it, which a redelivery keeps: the time of the upstream's delivery. Null for a dead letter, which is metered. */
  readonly loggedAt: Date | null;
  /** Null when the message is not an event: corruption of our own. */
  readonly event: LogEvent | null;
  /** The message as it stands in the log. */
  readonly body: string;
  /** How often the log has delivered it, this time included. */
  readonly deliveries: number;
  ack(): void;
  redeliver(delayMs: number): void;
}

export interface EventConsumerOptions {
  /** How often pulled events are reported as in progress: below a third of the time after which the log redelivers. */
  readonly holdEveryMs?: number;
  /** A worker that needs longer for a batch is stuck: the log may redeliver the batch to another one. */
  readonly holdForMs?: number;
  /** After this long without an event, ask the log whether it has any for us. */
  readonly stalledAfterMs?: number;
}

/**
 * Pulls ahead while a batch is being stored: an event that comes alone is handed over at once, and under load the
 * batches grow by themselves.
 */
export function createEventConsumer(
  nats: Nats,
  { holdEveryMs = 8_000, holdForMs = 60_000, stalledAfterMs = 15_000 }: EventConsumerOptions = {},
) {
  return {
    /** Yields what is there, up to `max`, as soon as there is something; ends with the signal. */
    async *batches(max: number, signal: AbortSignal): AsyncIterable<LoggedEvent[]> {
      const consumer = await nats.jetstream.consumers.get(eventsStream, matchConsumer);
      const messages = await consumer.consume({ max_messages: max });
      const waiting: JsMsg[] = [];
      let inHand: JsMsg[] = [];
      let inHandSince = performance.now();
      let lastAt = performance.now();
      let wake = () => {};
      let ended = false;
      const reading = (async () => {
        for await (const message of messages) {
          waiting.push(message);
          lastAt = performance.now();
          wake();
        }
      })().finally(() => {
        ended = true;
        wake();
      });
      const hold = setInterval(() => {
        if (performance.now() - inHandSince > holdForMs) return;
        for (const message of [...inHand, ...waiting]) message.working();
      }, holdEveryMs);
      const stop = () => messages.stop();
      signal.addEventListener('abort', stop, { once: true });
      try {
        while (!signal.aborted) {
          if (waiting.length > 0) {
            inHand = waiting.splice(0, max);
            inHandSince = performance.now();
            yield inHand.map(toLoggedEvent);
            inHand = [];
            inHandSince = performance.now();
            lastAt = performance.now();
          } else if (ended) break;
          else if (performance.now() - lastAt < stalledAfterMs) {
            await woken((resolve) => (wake = resolve), stalledAfterMs);
          } else {
            if ((await isStalled(nats)) && waiting.length === 0) throw new Error('the event log fell silent');
            lastAt = performance.now();
          }
        }
      } finally {
        clearInterval(hold);
        signal.removeEventListener('abort', stop);
        await messages.close();
        // What was pulled and not handed over goes to the next worker at once.
        for (const message of waiting) message.nak();
      }
      await reading;
    },
  };
}

export type EventConsumer = ReturnType<typeof createEventConsumer>;

/** Clients have been seen to receive nothing after a reconnect although events were pending. */
async function isStalled({ manager }: Nats): Promise<boolean> {
  const info = await manager.consumers.info(eventsStream, matchConsumer).catch(() => null);
  return info !== null && info.num_pending > 0 && info.num_ack_pending < eventsUnacknowledgedMax;
}

/** Resolves when the listener is called, or after `mostMs`. */
async function woken(listen: (resolve: () => void) => void, mostMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  listen(resolve);
  const timer = setTimeout(resolve, mostMs);
  await promise;
  clearTimeout(timer);
}

function toLoggedEvent(message: JsMsg): LoggedEvent {
  const body = message.string();
  return {
    sequence: message.seq,
    loggedAt: message.time,
    event: readEvent(body),
    body,
    deliveries: message.info.deliveryCount,
    ack: () => message.ack(),
    redeliver: (delayMs) => message.nak(delayMs),
  };
}

/** Earshot wrote the message itself: whatever is JSON is an event. */
export function readEvent(body: string): LogEvent | null {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
