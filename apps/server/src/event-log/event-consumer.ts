import type { JsMsg } from '@nats-io/jetstream';
import type { Nats } from '../engines/nats.ts';
import { pause, repeat } from '../runtime/worker.ts';
import type { LogEvent } from './event-log.ts';
import { unpackBodies } from './event-message.ts';
import { eventsStream, eventsUnacknowledgedMax, matchConsumer } from './events-stream.ts';

/** State that the events of one message share. */
export interface LoggedMessage {
  /** Events that are neither stored nor dead letters yet. */
  open: number;
}

/** An event from the log, to be acknowledged once its matches are committed. */
export interface LoggedEvent {
  /** The position of its message in the log. */
  readonly sequence: number;
  /** The message is settled and acknowledged with the last of its events. */
  readonly message: LoggedMessage;
  /** When the log stored it, which a redelivery keeps. Null for a dead letter, which was billed before. */
  readonly loggedAt: Date | null;
  /** Null if it is unreadable, which means that Earshot's own data is corrupt. */
  readonly event: LogEvent | null;
  /** The event as stored in the log. */
  readonly body: string;
  /** Number of deliveries, including this one. */
  readonly deliveries: number;
  ack(): void;
  /** Delivers only this event again, not the others of its message. */
  redeliver(delayMs: number): void;
}

/** Messages that a worker prefetches: about 50 MB at the largest size. */
const messagesMax = 250;

export interface EventConsumerOptions {
  /** How often pulled events are reported as in progress: below a third of the time after which the log redelivers. */
  readonly holdEveryMs?: number;
  /** A worker that needs longer for a batch is stuck, and the log may redeliver the batch. */
  readonly holdForMs?: number;
  /** After this long without an event, check whether the log has pending events. */
  readonly stalledAfterMs?: number;
}

/** Time between two checks which must both find that the client receives nothing. */
const confirmAfterMs = 1_000;

/** Prefetches while a batch is being stored. A single event is returned at once, and batches grow under load. */
export function createEventConsumer(
  nats: Nats,
  { holdEveryMs = 8_000, holdForMs = 60_000, stalledAfterMs = 15_000 }: EventConsumerOptions = {},
) {
  return {
    /**
     * Yields available events as soon as there are some: up to `max`, plus the rest of a message. Ends with the
     * signal. A message stays with this worker until all its events are acknowledged.
     */
    async *batches(max: number, signal: AbortSignal): AsyncIterable<LoggedEvent[]> {
      const consumer = await nats.jetstream.consumers.get(eventsStream, matchConsumer);
      const messages = await consumer.consume({ max_messages: messagesMax });
      const waiting: JsMsg[] = [];
      let inFlightSince = performance.now();
      let lastAt = performance.now();
      let wake = () => {};
      let ended = false;
      const inFlight = createInFlight(() => wake());
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
      const stop = () => messages.stop();
      signal.addEventListener('abort', stop, { once: true });
      const isStuck = async () => waiting.length === 0 && (await isStalled(nats));
      try {
        using _hold = repeat(holdEveryMs, () => {
          if (performance.now() - inFlightSince > holdForMs) return;
          for (const message of [...inFlight.open, ...waiting]) message.working();
        });
        while (!signal.aborted) {
          const batch = inFlight.takeDue();
          while (waiting.length > 0 && batch.length < max) batch.push(...inFlight.take(waiting.splice(0, 1)));
          if (batch.length > 0) {
            inFlightSince = performance.now();
            yield batch;
            inFlightSince = performance.now();
            lastAt = performance.now();
          } else if (ended) break;
          else if (performance.now() - lastAt < stalledAfterMs) {
            await woken((resolve) => (wake = resolve), stalledAfterMs);
          } else {
            if (await isStuck()) {
              // An event that has just been logged is pending too.
              await pause(confirmAfterMs, signal);
              if (!signal.aborted && (await isStuck())) throw new Error('the event log stopped delivering');
            }
            lastAt = performance.now();
          }
        }
      } finally {
        signal.removeEventListener('abort', stop);
        await messages.close();
        // Prefetched events that are not in flight are released to the next worker.
        for (const message of [...inFlight.close(), ...waiting]) message.nak();
      }
      await reading;
    },
  };
}

export type EventConsumer = ReturnType<typeof createEventConsumer>;

/** Clients can receive nothing after a reconnect although events are pending. */
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
 * Messages whose events are being processed. An event to redeliver waits here, because the log can only redeliver
 * whole messages. If this process dies, the log does that.
 */
function createInFlight(wake: () => void) {
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
    /** Returns messages with postponed events. */
    close(): Set<JsMsg> {
      for (const timer of putOff.keys()) clearTimeout(timer);
      return new Set([...putOff.values(), ...due.map(({ message }) => message)]);
    },
  };
}

interface DeliveryHandlers {
  readonly deliveries: number;
  /** Called when all events are acknowledged. */
  readonly onSettled: () => void;
  readonly redeliver: (event: LoggedEvent, delayMs: number) => void;
}

/** The events of a message. */
export function readMessage(
  message: Pick<JsMsg, 'seq' | 'time' | 'string'>,
  { deliveries, onSettled, redeliver }: DeliveryHandlers,
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

/** Any JSON is an event, because Earshot wrote it. Null means that the data is corrupt. */
export function readEvent(body: string): LogEvent | null {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
