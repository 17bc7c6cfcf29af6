import type { JsMsg } from '@nats-io/jetstream';
import type { Nats } from '../engines/nats.ts';
import type { LogEvent } from './event-log.ts';
import { unpackBodies } from './event-message.ts';
import { eventsStream, eventsUnacknowledgedMax, matchConsumer } from './events-stream.ts';

/** What an event shares with those in the same message. */
export interface LoggedMessage {
  /** How many of its events are neither stored nor buried. */
  open: number;
}

/** An event from the log, to be acknowledged once its matches are committed. */
export interface LoggedEvent {
  /** The position of its message in the log. */
  readonly sequence: number;
  /** It is settled, and acknowledged to the log, with the last of its events. */
  readonly message: LoggedMessage;
  /** When the log took it, which a redelivery keeps: the time of the upstream's delivery. Null for a dead letter, which is metered. */
  readonly loggedAt: Date | null;
  /** Null when it cannot be read: corruption of our own. */
  readonly event: LogEvent | null;
  /** The event as it stands in the log. */
  readonly body: string;
  /** How often it was delivered, this time included. */
  readonly deliveries: number;
  ack(): void;
  /** Delivers this event again, and no other of its message. */
  redeliver(delayMs: number): void;
}

/** Pulled ahead by a worker: with messages of the largest size some 50 MB. */
const messagesMax = 250;

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
    /**
     * Yields what is there, up to `max` and the rest of a message, as soon as there is something; ends with the signal. A message
     * stays with this worker until each of its events is acknowledged.
     */
    async *batches(max: number, signal: AbortSignal): AsyncIterable<LoggedEvent[]> {
      const consumer = await nats.jetstream.consumers.get(eventsStream, matchConsumer);
      const messages = await consumer.consume({ max_messages: messagesMax });
      const waiting: JsMsg[] = [];
      let inHandSince = performance.now();
      let lastAt = performance.now();
      let wake = () => {};
      let ended = false;
      const handed = createHanded(() => wake());
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
        for (const message of [...handed.open, ...waiting]) message.working();
      }, holdEveryMs);
      const stop = () => messages.stop();
      signal.addEventListener('abort', stop, { once: true });
      try {
        while (!signal.aborted) {
          const batch = handed.takeDue();
          while (waiting.length > 0 && batch.length < max) batch.push(...handed.take(waiting.splice(0, 1)));
          if (batch.length > 0) {
            inHandSince = performance.now();
            yield batch;
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
        // What was pulled and is in nobody's hand goes to the next worker at once.
        for (const message of [...handed.close(), ...waiting]) message.nak();
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

/**
 * The messages whose events were handed over. An event that is to be delivered again waits here: the log could only deliver its whole
 * message again. If this process dies, the log does so.
 */
function createHanded(wake: () => void) {
  const open = new Set<JsMsg>();
  const putOff = new Map<NodeJS.Timeout, JsMsg>();
  const due: Array<{ readonly event: LoggedEvent; readonly message: JsMsg }> = [];

  function toLoggedEvents(message: JsMsg): LoggedEvent[] {
    return readMessage(message, {
      deliveries: message.info.deliveryCount,
      onSettled() {
        open.delete(message);
        message.ack();
      },
      redeliver(event, delayMs) {
        const timer = setTimeout(() => {
          putOff.delete(timer);
          due.push({ event, message });
          wake();
        }, delayMs);
        putOff.set(timer, message);
      },
    });
  }

  return {
    open,
    take(messages: readonly JsMsg[]): LoggedEvent[] {
      for (const message of messages) open.add(message);
      return messages.flatMap(toLoggedEvents);
    },
    takeDue: (): LoggedEvent[] => due.splice(0).map(({ event }) => event),
    /** Returns the messages of which events were put off. */
    close(): Set<JsMsg> {
      for (const timer of putOff.keys()) clearTimeout(timer);
      return new Set([...putOff.values(), ...due.map(({ message }) => message)]);
    },
  };
}

interface Reading {
  readonly deliveries: number;
  /** Each of the events is acknowledged. */
  readonly onSettled: () => void;
  readonly redeliver: (event: LoggedEvent, delayMs: number) => void;
}

/** The events of a message. */
export function readMessage(
  message: Pick<JsMsg, 'seq' | 'time' | 'string'>,
  { deliveries, onSettled, redeliver }: Reading,
): LoggedEvent[] {
  const bodies = unpackBodies(message.string());
  const shared = { open: bodies.length };
  return bodies.map((body) => {
    let isOpen = true;
    const ack = () => {
      if (isOpen && --shared.open === 0) onSettled();
      isOpen = false;
    };
    const common = { sequence: message.seq, message: shared, loggedAt: message.time, body, ack };
    const event = readEvent(body);
    const delivery = (times: number): LoggedEvent => ({
      ...common,
      event,
      deliveries: times,
      redeliver: (delayMs) => redeliver(delivery(times + 1), delayMs),
    });
    return delivery(deliveries);
  });
}

/** Earshot wrote it itself: whatever is JSON is an event. Null otherwise: corruption of our own. */
export function readEvent(body: string): LogEvent | null {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
