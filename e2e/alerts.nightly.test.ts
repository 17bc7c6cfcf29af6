import { eventually } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { type Prometheus, startPrometheus, withPrometheus } from './src/prometheus.ts';
import { startWorld } from './src/world.ts';

/** On both platforms, so that both sources receive something. */
const rule = { x: 'rocket', firehose: 'rocket' };
/** From the kill to the alert. */
const alertWithinMs = 120_000;

/** Prometheus has scraped both sources and the matcher, and no alert is even pending. */
async function untilNoAlerts(prometheus: Prometheus): Promise<void> {
  await eventually(
    async () => {
      const isReceiving = 'time() - max by (source) (earshot_source_last_received_timestamp_seconds) < 60';
      expect(await prometheus.query(isReceiving)).toHaveLength(2);
      const matched = 'time() - max(earshot_matched_through_timestamp_seconds) < 60';
      expect(await prometheus.query(matched)).toHaveLength(1);
      expect([...(await prometheus.alerts('pending')), ...(await prometheus.alerts('firing'))]).toEqual([]);
    },
    { timeoutMs: 90_000, intervalMs: 1_000 },
  );
}

describe.concurrent('critical alerts for the worst outages', withPrometheus(), () => {
  test('the only node is killed: a critical alert fires within two minutes, from metrics of other jobs only', async () => {
    await using world = await startWorld();
    const account = await world.newAccount();
    const server = await world.startServer();
    await server.api(account).createRule(rule);
    await using prometheus = await startPrometheus([server.metricsUrl]);
    await untilNoAlerts(prometheus);

    await server.kill();
    await eventually(async () => expect(await prometheus.alerts('firing')).not.toEqual([]), {
      timeoutMs: alertWithinMs,
      intervalMs: 1_000,
    });
    // The metrics of the killed node are gone.
    expect(await prometheus.alerts('firing')).toEqual(['EarshotDown']);
    expect(await prometheus.alerts('pending')).toEqual(['ReviewNeeded']);
    expect(await prometheus.query('{__name__=~"earshot_.+"}')).toEqual([]);
  });

  test('the only node that listens is killed: the metrics of the other nodes raise the alert', async () => {
    await using world = await startWorld();
    const account = await world.newAccount();
    const living = await world.startServer({ EARSHOT_ROLES: 'api,match,deliver' });
    const listening = await world.startServer({ EARSHOT_ROLES: 'ingest' });
    await living.api(account).createRule(rule);
    await using prometheus = await startPrometheus([living.metricsUrl, listening.metricsUrl]);
    await untilNoAlerts(prometheus);

    await listening.kill();
    const firing = 'ALERTS{alertname="SourceDisconnected",alertstate="firing"}';
    await eventually(async () => expect(await prometheus.query(firing)).toHaveLength(2), {
      timeoutMs: 180_000,
      intervalMs: 1_000,
    });
    expect(await prometheus.alerts('firing')).toEqual(['SourceDisconnected']);
  });
});
