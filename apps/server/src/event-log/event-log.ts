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
  /** When the stream delivered it, by the node's clock. Absent for items that repair a gap. */
  readonly receivedMs?: number;
  /** A probe, not an item: it shows that the log accepts events. Matching only settles it. */
  readonly isProbe?: true;
}

const consumedHeader = 'Earshot-Consumed';
const retryDelayMs = 250;

/** Up to this upstream position, everything is in the log or was dropped. */
export interface Consumed {
  readonly position: string;
  readonly at: Date;
}

interface PendingAppend {
  readonly event: LogEvent;
  readonly body: string;
  readonly bytes: number;
  readonly consumed: string | null;
  readonly giveUp: AbortSignal | undefined;
  readonly startMs: number;
  readonly ended: PromiseWithResolvers<void>;
}

export interface EventLogOptions {
  /** Whether events may share a message. Default: true. */
  readonly packs?: boolean;
  readonly traces?: Traces | null;
  /** Detects that the log refuses events. */
  readonly watch?: AppendWatch;
}

/** The durable log between the platforms, which do not deliver twice, and the database, which may be slow or down. */
export function createEventLog(nats: Nats, options: EventLogOptions = {}) {
  /**
   * Per source: the last event that this process knows in the log, and the upstream position that was consumed after
   * it.
   */
  const lastSequence = new Map<string, number>();
  const consumedBehind = new Map<string, { sequence: number; consumed: Consumed }>();
  const publish = createPublish(nats, options, (sourceId, sequence) =>
    lastSequence.set(sourceId, Math.max(sequence, lastSequence.get(sourceId) ?? 0)),
  );
  const add = createQueues(publish, options.packs === false ? 1 : eventsPerMessageMax);
  return {
    /**
     * Resolves when the log has the event on disk. Retries under the same message id until `giveUp`, then throws.
     * `consumed` is the upstream position up to which everything is in the log now. It is stored with the event, so
     * the log alone decides where to resume.
     */
    async append(event: LogEvent, consumed: string | null, giveUp?: AbortSignal): Promise<void> {
      const appending = appendingOf(event, consumed, giveUp);
      add(appending);
      await appending.ended.promise;
    },
    /**
     * Resolves when the log has accepted a message. Only a write proves that: a NATS server with a full disk answers
     * all other requests, and keeps refusing messages after space is freed.
     */
    async probe(platform: Platform, giveUp: AbortSignal): Promise<void> {
      const appending = appendingOf(createProbe(platform), null, giveUp);
      void publish([appending]);
      await appending.ended.promise;
    },
    /**
     * Stores the position of a source in whose stream nothing has matched for a while. Otherwise a new process would
     * read everything since its last event again.
     */
    async mark(platform: Platform, sourceId: string, position: string, giveUp: AbortSignal): Promise<void> {
      const appending = appendingOf(
        { ...createProbe(platform), sourceId, upstreamEventId: position },
        position,
        giveUp,
      );
      add(appending);
      await appending.ended.promise;
    },
    /** Where to resume the source: at its last event in the log, or after items that this process consumed later. */
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
     * Everything up to `position` is in the log or was dropped. Kept in memory, not stored: otherwise each connection
     * would start with the same dropped items.
     */
    recordConsumed(sourceId: string, position: string): void {
      const consumed = { position, at: new Date() };
      consumedBehind.set(sourceId, { sequence: lastSequence.get(sourceId) ?? 0, consumed });
    },
  };
}

export type EventLog = ReturnType<typeof createEventLog>;

function appendingOf(
  event: LogEvent,
  consumed: string | null,
  giveUp: AbortSignal | undefined,
): PendingAppend {
  const body = JSON.stringify(event);
  const ended = Promise.withResolvers<void>();
  return { event, body, bytes: Buffer.byteLength(body), consumed, giveUp, startMs: Date.now(), ended };
}

/** A probe uses its own subject, because the last message of a source decides where to resume it. */
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

type Publish = (group: readonly PendingAppend[]) => Promise<void>;

/**
 * Retries until the log has the message or all its appends are given up. A retry has the same events and the same id.
 */
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
    // The last entry has the newest position.
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
        // The client tries once, but an election takes seconds (reliability.md L2). The message id makes retries
        // safe.
        await sleep(retryDelayMs);
      }
    }
    append.ended('given_up');
    for (const { event, startMs } of group) traces?.eventAppended(event, startMs, null);
    for (const { ended } of group) ended.reject(refusal);
  };
}

/** The queue of one source. */
interface Queue {
  waiting: PendingAppend[];
  /** Unanswered messages. */
  unanswered: number;
}

/**
 * Groups events of a source into messages: those added in one event-loop iteration, or while a message is unanswered.
 * No event waits longer because of it.
 */
function createQueues(publish: Publish, eventsMax: number): (entry: PendingAppend) => void {
  const queues = new Map<string, Queue>();

  /** While a message is unanswered, new events wait for its answer or until they fill a message. */
  function send(queue: Queue, isAnswered: boolean): void {
    const messages = splitIntoMessages(queue.waiting, eventsMax);
    const isFull = messages.at(-1)?.length === eventsMax;
    const waits = queue.unanswered > 0 && !isAnswered && !isFull;
    queue.waiting = waits ? (messages.pop() ?? []) : [];
    for (const message of messages) {
      queue.unanswered++;
      void publish(message).then(() => {
        queue.unanswered--;
        send(queue, true);
      });
    }
  }

  return batchPerIteration((arrived) => {
    for (const [sourceId, entries] of Map.groupBy(arrived, ({ event }) => event.sourceId)) {
      const queue = queues.get(sourceId) ?? { waiting: [], unanswered: 0 };
      queues.set(sourceId, queue);
      queue.waiting.push(...entries);
      send(queue, false);
    }
  });
}

/**
 * Passes on all entries that were added in one iteration of the event loop. The client then writes all messages to
 * the socket at once and the log syncs them once.
 */
function batchPerIteration<Entry>(handOver: (entries: readonly Entry[]) => void): (entry: Entry) => void {
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
