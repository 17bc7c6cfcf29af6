import { startTestNats } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { connectNats } from '../src/engines/nats.ts';
import { createEventConsumer } from '../src/event-log/event-consumer.ts';
import { createEventLog, type LogEvent } from '../src/event-log/event-log.ts';
import { createLogSpace } from '../src/event-log/log-space.ts';
import { makeEventsStream } from './support.ts';

const bytesMax = 1024 * 1024;
const everything = async () => Number.MAX_SAFE_INTEGER;

function event(sourceId: string, number: number): LogEvent {
  const key = `${number}`;
  return {
    platform: 'x',
    sourceId,
    upstreamEventId: key,
    key,
    day: '2026-11-15',
    platformPostId: key,
    rules: [],
    payload: {
      url: null,
      title: null,
      text: 'x'.repeat(4_000),
      author: null,
      published_at: null,
      language: null,
      raw: {},
    },
  };
}

async function openLog() {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startTestNats());
  const nats = stack.use(await connectNats(server.url, 'test'));
  await makeEventsStream(nats, { replicas: 1, bytesMax });
  const log = createEventLog(nats);
  const all = stack.move();
  /** Appends until the log refuses, at most so many; returns how many it stored. */
  const fill = async (from: number, most: number): Promise<number> => {
    for (let number = from; number < from + most; number++) {
      const taken = await log
        .append(event('x:busy', number), String(number - 1), AbortSignal.timeout(200))
        .then(
          () => true,
          () => false,
        );
      if (!taken) return number - from;
    }
    return most;
  };
  const matchAll = async (count: number): Promise<void> => {
    const stop = new AbortController();
    let matched = 0;
    for await (const batch of createEventConsumer(nats).batches(500, stop.signal)) {
      for (const logged of batch) logged.ack();
      matched += batch.length;
      if (matched >= count) break;
    }
    await nats.connection.flush();
  };
  return { nats, log, fill, matchAll, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

test("a log full of matched events accepts new ones again, and keeps every source's resume position", async () => {
  await using opened = await openLog();
  const { log, fill, matchAll, nats } = opened;
  await log.append(event('x:quiet', 1), '0');
  const taken = await fill(1, 1_000);
  expect(taken).toBeGreaterThan(100);
  // Control: without room it still refuses, matched or not.
  await matchAll(taken + 1);
  expect(await fill(5_000, 1)).toBe(0);

  const { removed } = await createLogSpace(nats, everything).makeRoom();
  expect(removed).toBe(taken - 1);
  expect(await fill(6_000, 100)).toBe(100);
  expect(await log.consumedBy('x:quiet')).toMatchObject({ position: '0' });
});

test('unmatched events are never removed, however full the log is', async () => {
  await using opened = await openLog();
  const taken = await opened.fill(1, 1_000);
  expect((await createLogSpace(opened.nats, everything).makeRoom()).removed).toBe(0);
  await opened.matchAll(taken);
});

test('events that were not checked yet are never removed: one of them may not have been delivered', async () => {
  await using opened = await openLog();
  const taken = await opened.fill(1, 1_000);
  await opened.matchAll(taken);
  expect((await createLogSpace(opened.nats, async () => 0).makeRoom()).removed).toBe(0);
  expect((await createLogSpace(opened.nats, async () => 10).makeRoom()).removed).toBe(10);
});
