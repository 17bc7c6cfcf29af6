import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { eventually, listenOnLoopback } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { startPrometheus, withPrometheus } from './src/prometheus.ts';
import { startWorld } from './src/world.ts';

const dashboardSchema = z.object({
  panels: z.array(
    z.object({
      title: z.string(),
      description: z.string().default(''),
      targets: z.array(z.object({ expr: z.string() })).default([]),
    }),
  ),
});
/** The description that tools/dashboard.ts gives panels that have series only when something fails. */
const emptyWithoutProblems = 'Empty without problems.';

async function readDashboard() {
  const file = new URL('../deploy/grafana/earshot.json', import.meta.url);
  const { panels } = dashboardSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  return panels.flatMap(({ title, description, targets }) =>
    targets.map(({ expr }) => ({
      title,
      // What Grafana substitutes for an interval of 10 s.
      expression: expr.replaceAll('$__rate_interval', '40s'),
      mayBeEmpty: description.includes(emptyWithoutProblems),
    })),
  );
}

test(
  'every expression of the dashboard has series on a working node, and its times are true',
  withPrometheus(),
  async () => {
    await using stack = new AsyncDisposableStack();
    const endpoint = createServer(
      (request, response) => void request.resume().on('end', () => response.end()),
    );
    const port = await listenOnLoopback(endpoint);
    stack.defer(() => {
      endpoint.closeAllConnections();
      endpoint.close();
    });
    const world = stack.use(await startWorld());
    const account = await world.newAccount();
    const server = await world.startServer({
      EARSHOT_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
      EARSHOT_TEST: 'allowInsecureWebhooks=true',
    });
    const api = server.api(account);
    await api.createRule({ x: 'rocket', firehose: 'rocket' });
    const webhook = { name: 'hook', url: `http://127.0.0.1:${port}/` };
    expect(await api.call('POST', '/api.CreateWebhook', webhook)).toMatchObject({ status: 200 });
    const prometheus = stack.use(await startPrometheus([server.metricsUrl]));
    const expressions = await readDashboard();
    expect(expressions.length).toBeGreaterThan(30);

    // An open follower, so that its metrics exist.
    const following = new AbortController();
    stack.defer(() => following.abort());
    const stream = fetch(`${server.url}/matches/stream`, {
      headers: { authorization: `Bearer ${account.key}` },
      signal: following.signal,
    });
    await stream;
    await world.sandbox.posts(['a rocket', 'another rocket']);
    await eventually(async () => expect(await api.allMatches()).toHaveLength(2), { timeoutMs: 60_000 });
    const one = async (expression: string) => Number((await prometheus.query(expression))[0]?.value[1]);
    await eventually(
      async () => {
        expect(await one('sum(earshot_event_logged_seconds_count{platform="x"})')).toBe(2);
        expect(await one('sum(earshot_event_stored_seconds_count{platform="x"})')).toBe(2);
        expect(await one('earshot_match_followed_seconds_count')).toBe(2);
        expect(await one('earshot_webhook_wait_seconds_count')).toBeGreaterThan(0);
      },
      { timeoutMs: 60_000, intervalMs: 500 },
    );
    // From the same clock, so neither negative nor the age of the post.
    for (const histogram of ['event_logged', 'event_stored', 'match_followed', 'webhook_wait']) {
      const mean = `sum(earshot_${histogram}_seconds_sum) / sum(earshot_${histogram}_seconds_count)`;
      expect(await one(mean)).toBeGreaterThan(0);
      expect(await one(mean)).toBeLessThan(60);
    }
    await eventually(
      async () => {
        const empty: string[] = [];
        for (const { title, expression, mayBeEmpty } of expressions) {
          const series = await prometheus.query(expression);
          if (series.length === 0 && !mayBeEmpty) empty.push(`${title}: ${expression}`);
        }
        expect(empty).toEqual([]);
      },
      { timeoutMs: 90_000, intervalMs: 1_000 },
    );
  },
);
