import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Platform } from '@earshot/contract';
import { headers } from '@nats-io/transport-node';
import type { Nats } from '../engines/nats.ts';
import type { Traces } from '../observability/traces.ts';
import type { Item } from '../upstream/item.ts';
import { type AppendWatch, createAppendWatch } from './append-watch.ts';
import { eventsPerMessageMax, messageIdOf, packBodies, splitIntoMessages } from './event-message.ts';
import { eventsStream, subjectOf } from './events-stream.ts';

/** An item that is in the event log, or on its way into it. */
export interface LogEvent extends Item {
  /** When the stream brought it, by the clock of the node that listened. Absent in what was fetched to fill a gap. */
  readonly receivedMs?: number;
  /** No item: it only shows that the log takes events. Matching settles it and does nothing else. */
  readonly isProbe?: true;
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
  readonly bytes: number;
  readonly consumed: string | null;
  readonly giveUp: AbortSignal | undefined;
  readonly startMs: number;
  readonly ended: PromiseWithResolvers<void>;
}

export interface EventLogOptions {
  /** Whether events may share a message. True unless set. */
  readonly packs?: boolean;
  readonly traces?: Traces | null;
  /** Notices when the log refuses events. */
  readonly watch?: AppendWatch;
}

/** The durable log between the upstreams, which do not deliver again, and the database, which may be slow or down. */
export function createEventLog(nats: Nats, options: EventLogOptions = {}) {
  /** Of each source, the last event that this process knows in the log, and how far the source is consumed behind it. */
  const lastSequence = new Map<string, number>();
  const consumedBehind = new Map<string, { sequence: number; consumed: Consumed }>();
  const publish = createPublish(nats, options, (sourceId, sequence) =>
    lastSequence.set(sourceId, Math.max(sequence, lastSequence.get(sourceId) ?? 0)),
  );
  const add = createQueues(publish, options.packs === false ? 1 : eventsPerMessageMax);
  return {
    /**
     * Resolves when the log has the event on disk; retries under the same message id until `giveUp`, then throws.
     * `consumed` is the upstream position up to which everything is in the log at this moment. It travels with the
     * event, so the log itself says where to resume and no second store can disagree.
     */
    async append(event: LogEvent, consumed: string | null, giveUp?: AbortSignal): Promise<void> {
      const appending = appendingOf(event, consumed, giveUp);
      add(appending);
      await appending.ended.promise;
    },
    /**
     * Resolves when the log has taken a message: whether it does only a write shows. A NATS server whose disk was full answers
     * everything else, and goes on to refuse messages when there is space again.
     */
    async probe(platform: Platform, giveUp: AbortSignal): Promise<void> {
      const appending = appendingOf(createProbe(platform), null, giveUp);
      void publish([appending]);
      await appending.ended.promise;
    },
    /**
     * Where to resume the source: from the last event of it in the log, or behind what was consumed after that event, if
     * this process knows.
     */
    async consumedBy(sourceId: string): Promise<Consumed | null> {
      const last = await nats.manager.streams.getMessage(eventsStream, { last_by_subj: subjectOf(sourceId) });
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

function appendingOf(event: LogEvent, consumed: string | null, giveUp: AbortSignal | undefined): Appending {
  const body = JSON.stringify(event);
  const ended = Promise.withResolvers<void>();
  return { event, body, bytes: Buffer.byteLength(body), consumed, giveUp, startMs: Date.now(), ended };
}

/** Its subject is no source's: the last message of a source tells where to resume it. */
function createProbe(platform: Platform): LogEvent {
  const id = randomUUID();
  return {
    isProbe: true,
    platform,
    sourceId: 'probe',
    upstreamEventId: id,
    key: id,
    day: new Date().toISOString().slice(0, 10),
    platformPostId: id,
    rules: [],
    payload: {
      url: null,
      title: null,
      text: null,
      author: null,
      published_at: null,
      language: null,
      raw: {},
    },
  };
}

type Publish = (group: readonly Appending[]) => Promise<void>;

/** Tries until the log has the message or it is given up. What is tried again is the same message: same events, same id. */
function createPublish(
  { jetstream }: Nats,
  { traces = null, watch = createAppendWatch() }: EventLogOptions,
  onLogged: (sourceId: string, sequence: number) => void,
): Publish {
  return async (group) => {
    const events = group.map(({ event }) => event);
    const sourceId = events[0]?.sourceId ?? '';
    const payload = packBodies(group.map(({ body }) => body));
    const carried = headers();
    // The last one knows most.
    const consumed = group.at(-1)?.consumed ?? null;
    if (consumed !== null) carried.set(consumedHeader, consumed);
    const options = { msgID: messageIdOf(events), headers: carried };
    const isGivenUp = () => group.every(({ giveUp }) => giveUp?.aborted);
    const append = watch.begin();
    let refusal: unknown = new Error('given up before the first attempt');
    while (!isGivenUp()) {
      try {
        const logged = await jetstream.publish(subjectOf(sourceId), payload, options);
        append.ended('taken');
        onLogged(sourceId, logged.seq);
        for (const { event, startMs } of group) traces?.eventAppended(event, startMs, logged);
        for (const { ended } of group) ended.resolve();
        return;
      } catch (error) {
        refusal = error;
        append.refused(error);
        // The client tries once; an election takes seconds (reliability.md L2). The message id makes retries safe.
        await sleep(retryDelayMs);
      }
    }
    append.ended('given_up');
    for (const { event, startMs } of group) traces?.eventAppended(event, startMs, null);
    for (const { ended } of group) ended.reject(refusal);
  };
}

/** Of a source. */
interface Queue {
  waiting: Appending[];
  /** Messages without an answer. */
  underWay: number;
}

/** Events of a source that come in one turn share a message, and so do those that come while one is under way: nobody waits longer. */
function createQueues(publish: Publish, eventsMax: number): (entry: Appending) => void {
  const queues = new Map<string, Queue>();

  /** While a message is under way, what comes waits for an answer, or until it fills a message. */
  function send(queue: Queue, isAnswered: boolean): void {
    const messages = splitIntoMessages(queue.waiting, eventsMax);
    const isFull = messages.at(-1)?.length === eventsMax;
    const waits = queue.underWay > 0 && !isAnswered && !isFull;
    queue.waiting = waits ? (messages.pop() ?? []) : [];
    for (const message of messages) {
      queue.underWay++;
      void publish(message).then(() => {
        queue.underWay--;
        send(queue, true);
      });
    }
  }

  return createTurns((arrived) => {
    for (const [sourceId, entries] of Map.groupBy(arrived, ({ event }) => event.sourceId)) {
      const queue = queues.get(sourceId) ?? { waiting: [], underWay: 0 };
      queues.set(sourceId, queue);
      queue.waiting.push(...entries);
      send(queue, false);
    }
  });
}

/**
 * Hands over in the next turn of the event loop all that was added in this one. The client then writes all messages to the socket at once and the log syncs them once.
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
