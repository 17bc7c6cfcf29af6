import type { JsMsg } from '@nats-io/jetstream';
import type { StreamEvent } from '../../ingest/stream-event.ts';
import type { EventSource, LoggedEvent } from '../../matching/event-source.ts';
import type { Nats } from './connection.ts';
import { eventsStream, matchConsumer } from './events-stream.ts';

/**
 * Pulls ahead while a batch is being stored: an event that comes alone is handed over at once, and under load
 * the batches grow by themselves.
 */
export function createEventSource({ jetstream }: Nats): EventSource {
  return {
    async *batches(max, signal) {
      const consumer = await jetstream.consumers.get(eventsStream, matchConsumer);
      const messages = await consumer.consume({ max_messages: max });
      const waiting: JsMsg[] = [];
      let wake = () => {};
      let ended = false;
      const reading = (async () => {
        for await (const message of messages) {
          waiting.push(message);
          wake();
        }
      })().finally(() => {
        ended = true;
        wake();
      });
      const stop = () => messages.stop();
      signal.addEventListener('abort', stop, { once: true });
      try {
        while (!signal.aborted) {
          if (waiting.length > 0) yield waiting.splice(0, max).map(toLoggedEvent);
          else if (ended) break;
          else await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        signal.removeEventListener('abort', stop);
        await messages.close();
        // What was pulled and not handed over goes to the next worker at once.
        for (const message of waiting) message.nak();
      }
      await reading;
    },
  };
}

/** We wrote it ourselves: a message that is no event is our own corruption, and loud. */
function toLoggedEvent(message: JsMsg): LoggedEvent {
  return {
    event: message.json<StreamEvent>(),
    deliveries: message.info.deliveryCount,
    ack: () => message.ack(),
    again: (delayMs) => message.nak(delayMs),
  };
}
