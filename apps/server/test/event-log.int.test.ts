import { eventually, startTestNats } from '@earshot/testkit';
import { TimeoutError } from '@nats-io/transport-node';
import { describe, expect, test, vi } from 'vitest';
import { connectNats, type Nats } from '../src/engines/nats.ts';
import { createEventLog } from '../src/event-log/event-log.ts';
import { copiesOn, ensureEventsStream, eventsStream, matchConsumer } from '../src/event-log/events-stream.ts';
import { readLog } from './log-chaos.ts';
import { xEvent } from './stream-events.ts';
import { makeEventsStream } from './support.ts';

const mebibyte = 1024 ** 2;

async function messages({ manager }: Nats): Promise<number> {
  return (await manager.streams.info(eventsStream)).state.messages;
}

describe('the event log on one node', () => {
  test("returns the resume position from the source's last event", async () => {
    await using server = await startTestNats();
    await using nats = await connectNats(server.url, 'test');
    await makeEventsStream(nats, { replicas: copiesOn(nats), bytesMax: 16 * mebibyte });
    const log = createEventLog(nats);
    expect(await log.consumedBy('x:main')).toBeNull();
    await log.append(xEvent(1), null);
    expect(await log.consumedBy('x:main')).toBeNull();
    await log.append(xEvent(2), '1');
    await log.append(xEvent(3, { sourceId: 'firehose:main' }), '0-7');
    expect(await log.consumedBy('x:main')).toMatchObject({ position: '1' });
    expect(await log.consumedBy('firehose:main')).toMatchObject({ position: '0-7' });
    expect(await log.consumedBy('firehose:other')).toBeNull();
  });

  test('stores what was consumed behind its last event, until there is another event', async () => {
    await using server = await startTestNats();
    await using nats = await connectNats(server.url, 'test');
    await makeEventsStream(nats, { replicas: 1, bytesMax: 16 * mebibyte });
    const log = createEventLog(nats);
    const other = createEventLog(nats);
    log.recordConsumed('x:main', '0');
    expect(await log.consumedBy('x:main')).toMatchObject({ position: '0' });
    await log.append(xEvent(1), null);
    expect(await log.consumedBy('x:main')).toBeNull();
    log.recordConsumed('x:main', '2');
    expect(await log.consumedBy('x:main')).toMatchObject({ position: '2' });
    expect(await other.consumedBy('x:main')).toBeNull();
    await other.append(xEvent(3), '1');
    expect(await log.consumedBy('x:main')).toMatchObject({ position: '1' });
    await nats.manager.streams.purge(eventsStream);
    expect(await log.consumedBy('x:main')).toBeNull();
  });

  test('keeps the order of events that arrive together or while others are being appended', async () => {
    await using server = await startTestNats();
    await using nats = await connectNats(server.url, 'test');
    await makeEventsStream(nats, { replicas: 1, bytesMax: 16 * mebibyte });
    const log = createEventLog(nats);
    const appending: Promise<void>[] = [];
    for (let n = 1; n <= 200; n++) {
      appending.push(log.append(xEvent(n), null));
      // In the same event loop turn, and between two of them.
      if (n % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
      else if (n % 3 === 0) await Promise.resolve();
    }
    await Promise.all(appending);
    const keys = Array.from({ length: 200 }, (_, index) => xEvent(index + 1).key);
    expect([...(await readLog(nats)).keys()]).toEqual(keys);
  });

  test('stores the same event once, and again for another rule', async () => {
    await using server = await startTestNats();
    await using nats = await connectNats(server.url, 'test');
    await makeEventsStream(nats, { replicas: 1, bytesMax: 16 * mebibyte });
    const log = createEventLog(nats);
    const rules = [
      { upstreamRuleId: '1', tag: null },
      { upstreamRuleId: '2', tag: null },
    ];
    await log.append(xEvent(1, { rules }), null);
    await log.append(xEvent(1, { rules: rules.toReversed() }), null);
    expect(await messages(nats)).toBe(1);
    await log.append(xEvent(1, { rules: rules.slice(0, 1) }), null);
    expect(await messages(nats)).toBe(2);
  });

  test('stores a redelivered event again on another UTC day: it is billed again', async () => {
    await using server = await startTestNats();
    await using nats = await connectNats(server.url, 'test');
    await makeEventsStream(nats, { replicas: 1, bytesMax: 16 * mebibyte });
    const log = createEventLog(nats);
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const taken: number[] = [];
      for (const time of ['13T00:00:00.000', '13T23:59:59.999', '14T00:00:00.000', '14T23:00:00.000']) {
        vi.setSystemTime(`2026-11-${time}Z`);
        await log.append(xEvent(1), null);
        taken.push(await messages(nats));
      }
      expect(taken).toEqual([1, 1, 2, 2]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('keeps its settings when a node starts again, and refuses events instead of deleting old ones when it is full', async () => {
    await using server = await startTestNats();
    await using nats = await connectNats(server.url, 'test');
    await makeEventsStream(nats, { replicas: 1, bytesMax: 16 * mebibyte });
    await ensureEventsStream(nats, { replicas: 1, bytesMax: 4_000 });
    const log = createEventLog(nats);
    await expect(
      (async () => {
        for (let n = 0; n < 100; n++) await log.append(xEvent(n), null, AbortSignal.timeout(500));
      })(),
    ).rejects.toThrow(/maximum bytes/);
    const { config, state } = await nats.manager.streams.info(eventsStream);
    expect(config).toMatchObject({ max_bytes: 4_000, discard: 'new', deny_delete: true });
    expect(state.first_seq).toBe(1);
  });

  test("is refused, with the reason, if it exceeds the server's limits", async () => {
    await using server = await startTestNats({ maxFileStore: '10MB' });
    await using nats = await connectNats(server.url, 'test');
    const tooMuch = ensureEventsStream(nats, { replicas: 1, bytesMax: 16 * mebibyte });
    await expect(tooMuch).rejects.toThrow(/EARSHOT_EVENTS_BYTES_MAX/);
    await ensureEventsStream(nats, { replicas: 1, bytesMax: 4 * mebibyte });
    const grown = ensureEventsStream(nats, { replicas: 1, bytesMax: 16 * mebibyte });
    await expect(grown).rejects.toThrow(/EARSHOT_EVENTS_BYTES_MAX/);
  });

  test('retries while the server is down, and stores the event when it is back', async () => {
    await using server = await startTestNats();
    await using nats = await connectNats(server.url, 'test');
    await makeEventsStream(nats, { replicas: 1, bytesMax: 16 * mebibyte });
    const log = createEventLog(nats);
    await log.append(xEvent(1), null);
    const [node] = server.nodes;
    await node?.kill('SIGKILL');
    let settled = false;
    const appending = log.append(xEvent(2), '1').finally(() => (settled = true));
    await eventually(() => expect(nats.connection.isClosed()).toBe(false), { timeoutMs: 1_000 });
    expect(settled).toBe(false);
    await node?.restart();
    await appending;
    expect(await messages(nats)).toBe(2);
    expect(await log.consumedBy('x:main')).toMatchObject({ position: '1' });
  });

  test('reports why an append was given up, with the call and the server', async () => {
    await using server = await startTestNats();
    const nats = await connectNats(server.url, 'test');
    await makeEventsStream(nats, { replicas: 1, bytesMax: 16 * mebibyte });
    const [node] = server.nodes;
    // It keeps the connection without an answer, as with a full disk.
    await node?.kill('SIGSTOP');
    const startedAt = performance.now();
    const named = `events.x.main at nats-server ${node?.url.replace('nats://', '')}`;
    await expect(createEventLog(nats).append(xEvent(1), null, AbortSignal.timeout(500))).rejects.toThrow(
      `timeout (${named})`,
    );
    expect(performance.now() - startedAt).toBeGreaterThan(500);
    await node?.kill('SIGCONT');
    await nats.connection.close();
  });
});

test('is also refused on three nodes if it exceeds the limits', async () => {
  await using server = await startTestNats({ nodes: 3, maxFileStore: '10MB' });
  await using nats = await connectNats(server.url, 'test');
  const tooMuch = ensureEventsStream(nats, { replicas: 3, bytesMax: 16 * mebibyte });
  await expect(tooMuch).rejects.toThrow(/EARSHOT_EVENTS_BYTES_MAX/);
});

test('on three nodes has three copies of log and consumer, and stores events with one node down', async () => {
  await using server = await startTestNats({ nodes: 3 });
  await using nats = await connectNats(server.url, 'test');
  await makeEventsStream(nats, { replicas: copiesOn(nats), bytesMax: 16 * mebibyte });
  const { config, cluster } = await nats.manager.streams.info(eventsStream);
  expect(config.num_replicas).toBe(3);
  expect(cluster?.replicas).toHaveLength(2);
  const consumer = await nats.manager.consumers.info(eventsStream, matchConsumer);
  expect(consumer.cluster?.replicas).toHaveLength(2);
  const log = createEventLog(nats);
  await log.append(xEvent(1), null);
  const leader = server.nodes.find(({ name }) => name === cluster?.leader);
  expect(leader).toBeDefined();
  await leader?.kill('SIGKILL');
  await log.append(xEvent(2), '1');
  await eventually(async () => expect(await messages(nats)).toBe(2), { timeoutMs: 30_000 });
});

/** An attempt waits 5 s for an answer, so two without one are less than 15 s. */
test('loses no more than two attempts to a node that hangs while we are connected to it', async () => {
  await using server = await startTestNats({ nodes: 3 });
  await using nats = await connectNats(server.url, 'test');
  await makeEventsStream(nats, { replicas: 3, bytesMax: 16 * mebibyte });
  const log = createEventLog(nats);
  await log.append(xEvent(1), null);
  const node = server.nodes.find(({ url }) => url.endsWith(nats.connection.getServer()));
  expect(node).toBeDefined();
  const attempts = vi.spyOn(nats.jetstream, 'publish');
  await node?.kill('SIGSTOP');
  await log.append(xEvent(2), '1');
  const refusals = attempts.mock.settledResults.filter(({ type }) => type === 'rejected');
  const unanswered = refusals.filter(({ value }) => value instanceof TimeoutError);
  expect(unanswered.length).toBeGreaterThan(0);
  expect(unanswered.length).toBeLessThanOrEqual(2);
  expect(nats.connection.getServer()).not.toBe(node?.url.replace('nats://', ''));
  await node?.kill('SIGCONT');
});
