import { eventually } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { createApi } from './src/api.ts';
import { run } from './src/machine.ts';
import { readCommands } from './src/page-blocks.ts';
import { withPrometheus } from './src/prometheus.ts';
import { startWorld } from './src/world.ts';

const within = { timeoutMs: 90_000 };

test('docs/operations/before-you-go-live.md: its commands say yes for an installation that is ready', async () => {
  const page = await readCommands('docs/operations/before-you-go-live.md', [
    'isDurable',
    'isHidden',
    'createKey',
    'isReady',
  ]);
  await using world = await startWorld();
  await using server = await world.startServer();
  const account = await world.newAccount();
  await server.api(account).createRule({ x: 'walnut', firehose: 'walnut' });
  const env = {
    EARSHOT_DATABASE_URL: world.databaseUrl,
    EARSHOT_URL: server.url,
    EARSHOT_API_KEY: account.key,
  };
  expect(await run(page.isDurable, env)).toBe('on\non\n');

  // Another address of this machine than the one on which metrics are served.
  const reach = (metricsUrl: string) =>
    run(page.isHidden.replace('9464', new URL(metricsUrl).port), { PUBLIC_ADDRESS: '127.0.0.2' });
  await expect(reach(server.metricsUrl)).rejects.toMatchObject({ code: 7 });
  await using open = await world.startServer({ EARSHOT_METRICS_HOST: '0.0.0.0' });
  expect(await reach(open.metricsUrl)).toContain('earshot_build_info');

  const printed = await run(page.createKey, env);
  const [newKey = ''] = /esk_\w+/.exec(printed) ?? [];
  const api = createApi(server.url, newKey);
  expect((await api.call('POST', '/matches', {})).status).toBe(200);
  expect((await api.call('GET', '/api.ListRules')).status).toBe(403);

  await eventually(async () => {
    const seen = await run(page.isReady, env);
    expect(seen).toContain('{"status":"ready"}');
    expect(seen).toMatch(/^firehose +main +live[^]*^x +main +live/m);
  }, within);
});

test('docs/operations/accounts.md: an account from its creation to its deletion', async () => {
  const page = await readCommands('docs/operations/accounts.md', [
    'create',
    'show',
    'limit',
    'suspendAndResume',
    'remove',
  ]);
  await using world = await startWorld();
  await using server = await world.startServer();
  const database = { EARSHOT_DATABASE_URL: world.databaseUrl };
  const [accountId = ''] = /acc_\w+/.exec(await run(page.create, database)) ?? [];
  const env = { ...database, ACCOUNT_ID: accountId };
  const shown = await run(page.show, env);
  const [key = ''] = /esk_\w+/.exec(shown) ?? [];
  expect(shown).toMatch(new RegExp(`${accountId}.*Acme`));
  const statusOf = async () => (await createApi(server.url, key).call('GET', '/api.ListRules')).status;
  expect(await statusOf()).toBe(200);
  await run(page.limit, env);
  const [account] = await world.admin.listAccounts({ accountId, days: 2 });
  expect(account).toMatchObject({ plan: 'free', limits: { requestsPerMinute: 3_000 } });

  const [suspend = '', resume = ''] = page.suspendAndResume.split('\n');
  await run(suspend, env);
  await eventually(async () => expect(await statusOf()).toBe(403), within);
  await run(resume, env);
  await eventually(async () => expect(await statusOf()).toBe(200), within);
  expect(await run(page.remove, env)).toContain('deleted');
  expect(await statusOf()).toBe(401);
});

test('docs/operations/monitoring.md: Prometheus accepts the configuration', withPrometheus(), async () => {
  const { check } = await readCommands('docs/operations/monitoring.md', ['check']);
  expect(await run(check, {})).toMatch(/SUCCESS: deploy\/prometheus.yaml[^]*SUCCESS: \d+ rules found/);
});
