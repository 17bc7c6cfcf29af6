import { hash } from 'node:crypto';
import { eventually, startOtlpReceiver } from '@earshot/testkit';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createMetrics, type Metrics } from './metrics.ts';
import { openSpanExport } from './span-export.ts';

function openExport(url: string, ratio = 1) {
  const metrics = createMetrics();
  const log = pino({ level: 'silent' });
  const common = { version: '1.2.3', node: 'node-1', roles: ['match', 'deliver'], headers: {}, log, metrics };
  return { metrics, spans: openSpanExport({ url, ratio, ...common }) };
}

async function fatesOf({ traceSpans }: Metrics): Promise<Partial<Record<string, number>>> {
  const { values } = await traceSpans.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels.fate, value]));
}

const span = {
  name: 'append',
  kind: 'producer',
  traceId: hash('sha256', 'trace').slice(0, 32),
  parentId: null,
  startMs: 1_800_000_000_123,
  endMs: 1_800_000_000_456,
  failed: false,
  attributes: { text: 'word', count: 3, isNew: true },
} as const;

test('recorded spans have reached the collector unchanged when the export is closed', async () => {
  await using collector = await startOtlpReceiver();
  const { spans, metrics } = openExport(collector.url);
  const parentId = spans.record(span);
  const spanId = hash('sha256', 'span').slice(0, 16);
  spans.record({ ...span, name: 'match', spanId, parentId, failed: true, endMs: span.startMs - 1 });
  await spans[Symbol.asyncDispose]();
  const resource = {
    'service.name': 'earshot',
    'service.version': '1.2.3',
    'service.instance.id': 'node-1',
    'earshot.roles': ['match', 'deliver'],
  };
  const { traceId, startMs, endMs, attributes } = span;
  expect(collector.spans).toEqual([
    {
      traceId,
      spanId: parentId,
      parentId: null,
      name: 'append',
      startMs,
      endMs,
      failed: false,
      attributes,
      resource: expect.objectContaining(resource),
    },
    {
      traceId,
      spanId,
      parentId,
      name: 'match',
      startMs,
      endMs: startMs,
      failed: true,
      attributes,
      resource: expect.objectContaining(resource),
    },
  ]);
  expect(await fatesOf(metrics)).toEqual({ sent: 2, failed: 0, dropped: 0 });
});

test('with a hanging collector, the queue is limited and closing ends', async () => {
  await using collector = await startOtlpReceiver({ hangs: true });
  const { spans, metrics } = openExport(collector.url);
  for (let n = 0; n < 10_000; n++) spans.record(span);
  // 512 are being sent.
  const dropped = 10_000 - 8_192 - 512;
  expect(await fatesOf(metrics)).toEqual({ sent: 0, failed: 0, dropped });
  await spans[Symbol.asyncDispose]();
  await eventually(() => expect(collector.open()).toBe(0), { timeoutMs: 30_000 });
  const { sent, failed = 0 } = await fatesOf(metrics);
  expect(sent).toBe(0);
  expect(failed).toBeGreaterThanOrEqual(512);
});

test('a ratio samples about that share, and a larger one a superset', () => {
  const ids = Array.from({ length: 10_000 }, (_, n) => hash('sha256', `item ${n}`).slice(0, 32));
  const [tenth, half, none, all] = [0.1, 0.5, 0, 1].map((ratio) => {
    const { spans } = openExport('http://127.0.0.1:1/v1/traces', ratio);
    return new Set(ids.filter((id) => spans.isSampled(id)));
  });
  expect(Math.abs((tenth?.size ?? 0) - 1_000)).toBeLessThan(200);
  expect(Math.abs((half?.size ?? 0) - 5_000)).toBeLessThan(400);
  expect([...(tenth ?? [])].every((id) => half?.has(id))).toBe(true);
  expect([none?.size, all?.size]).toEqual([0, 10_000]);
});
