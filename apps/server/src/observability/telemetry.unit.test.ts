import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createMetrics, dropReasons } from './metrics.ts';
import { createTelemetry } from './telemetry.ts';

function createWorld() {
  const metrics = createMetrics();
  const exported = () => metrics.registry.metrics();
  return { exported, telemetry: createTelemetry(pino({ enabled: false }), metrics) };
}

type CallTelemetry = ReturnType<typeof createWorld>['telemetry'];

test.each<[string, (telemetry: CallTelemetry) => void]>([
  ['event_logged', (telemetry) => telemetry.eventLogged({ platform: 'x', ms: 1_500 })],
  ['event_stored', (telemetry) => telemetry.eventStored({ platform: 'x', ms: 1_500 })],
  ['match_batch', (telemetry) => telemetry.batchStored({ events: 1, matches: {}, ms: 1_500 })],
  ['match_followed', (telemetry) => telemetry.matchFollowed(1_500)],
  ['webhook_wait', (telemetry) => telemetry.webhookFirstTried(1_500)],
])('%s_seconds is measured in seconds', async (histogram, call) => {
  const { exported, telemetry } = createWorld();
  call(telemetry);
  const text = await exported();
  const samples = text.split('\n').filter((line) => line.startsWith(`earshot_${histogram}_seconds`));
  const of = (part: RegExp) =>
    samples.filter((line) => part.test(line)).map((line) => Number(line.split(' ').at(-1)));
  expect(Math.max(...of(/_sum/))).toBe(1.5);
  expect(Math.max(...of(/le="1"/))).toBe(0);
  expect(Math.max(...of(/le="2"/))).toBe(1);
});

test('a duration is at least zero even if clocks differ', async () => {
  const { exported, telemetry } = createWorld();
  telemetry.eventStored({ platform: 'x', ms: -40 });
  telemetry.matchFollowed(-40);
  telemetry.webhookFirstTried(-40);
  expect(await exported()).toContain('earshot_event_stored_seconds_sum{platform="x"} 0\n');
  expect(await exported()).toContain('earshot_match_followed_seconds_sum 0\n');
  expect(await exported()).toContain('earshot_webhook_wait_seconds_sum 0\n');
});

test('divisors of alerts exist before the first event', async () => {
  const text = await createWorld().exported();
  for (const platform of ['x', 'firehose']) {
    expect(text).toContain(`earshot_event_stored_seconds_count{platform="${platform}"} 0\n`);
    for (const reason of dropReasons)
      expect(text).toContain(`earshot_items_dropped_total{platform="${platform}",reason="${reason}"} 0\n`);
  }
});
