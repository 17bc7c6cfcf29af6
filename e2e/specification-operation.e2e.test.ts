import { once } from 'node:events';
import { Agent, get, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { errorSchema, openApiDocument, operations } from '@earshot/contract';
import { eventually, startTcpProxy } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerUnderTest, startWorld, type World } from './src/world.ts';

/** What an operator and a newcomer see, without any key; and how a node leaves. */
let world: World;
let server: ServerUnderTest;

beforeAll(async () => {
  world = await startWorld();
  server = await world.startServer();
});
afterAll(() => world?.[Symbol.asyncDispose]());

const ask = (path: string) => fetch(new URL(path, server.url));

describe('what needs no key', () => {
  test('/healthz and /readyz answer 200 while all is well', async () => {
    const health = await ask('/healthz');
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    const ready = await ask('/readyz');
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }]);
    expect(ready.headers.get('x-request-id')).toMatch(/^req_/);
  });

  test('/openapi.json is the document of the contract, with all operations and the version label 1', async () => {
    const response = await ask('/openapi.json');
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const document = await response.json();
    expect(document).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
    expect(document).toMatchObject({ info: { version: '1' } });
    for (const { path, method } of Object.values(operations)) {
      expect(document).toHaveProperty(['paths', path, method.toLowerCase()]);
    }
  });

  test('/docs is a page that renders /openapi.json with a script of this server and loads nothing from elsewhere', async () => {
    const response = await ask('/docs');
    const html = await response.text();
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toContain(
      "default-src 'none'; script-src 'self'",
    );
    expect(html).toMatch(/^<!doctype html>/i);
    expect(html).toContain('data-url="/openapi.json"');
    expect(html).not.toMatch(/<img|<iframe|@import|url\(|\/\//i);
    const sources = Array.from(html.matchAll(/\ssrc="([^"]+)"/g), ([, source = '']) => source);
    expect(sources).toEqual(['/docs/scalar.js']);
    expect((await ask('/docs/scalar.js')).status).toBe(200);
  });

  test('the metrics have a port of their own, with every reason of a drop present at zero', async () => {
    expect((await ask('/metrics')).status).toBe(404);
    const metrics = await (await fetch(server.metricsUrl)).text();
    for (const platform of ['x', 'firehose']) {
      for (const reason of [
        'not_json',
        'unknown_shape',
        'too_large',
        'nested_too_deep',
        'time_out_of_range',
        'unknown_rule',
      ]) {
        const series = `earshot_items_dropped_total{platform="${platform}",reason="${reason}"} 0`;
        expect(metrics.split('\n')).toContain(series);
      }
    }
  });
});

test('without PostgreSQL a node lives but is not ready, says so in the error shape, and recovers', async () => {
  const database = new URL(world.databaseUrl);
  await using proxy = await startTcpProxy({
    target: { host: database.hostname, port: Number(database.port) },
  });
  database.host = proxy.address;
  await using node = await world.startServer({ EARSHOT_DATABASE_URL: database.href, EARSHOT_ROLES: 'api' });
  const askNode = (path: string) => fetch(new URL(path, node.url));
  const { key } = await world.newAccount();
  expect((await askNode('/readyz')).status).toBe(200);
  proxy.refuse(true);
  proxy.cut();
  const gone = await askNode('/readyz');
  expect(proxy.fired.refused).toBeGreaterThan(0);
  expect(gone.status).toBe(503);
  expect(gone.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(errorSchema.parse(await gone.json())).toMatchObject({ code: 'unavailable' });
  const listed = await fetch(new URL('/api.ListRules', node.url), {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(listed.status).toBe(503);
  expect(listed.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(errorSchema.parse(await listed.json())).toMatchObject({ code: 'unavailable' });
  expect((await askNode('/healthz')).status).toBe(200);
  proxy.refuse(false);
  await eventually(async () => expect((await askNode('/readyz')).status).toBe(200), { timeoutMs: 10_000 });
});

test('without NATS a node says that it is not ready, and is again when NATS is back', async () => {
  const node = await world.startServer();
  const ready = async () => (await fetch(new URL('/readyz', node.url))).status;
  expect(await ready()).toBe(200);
  const [nats] = world.nats.nodes;
  await nats?.kill('SIGKILL');
  await eventually(async () => expect(await ready()).toBe(503), { timeoutMs: 10_000 });
  await nats?.restart();
  await eventually(async () => expect(await ready()).toBe(200), { timeoutMs: 20_000 });
  await node.stop();
});

describe('SIGTERM', () => {
  test('an idle keep-alive connection does not hold the node back', async () => {
    const node = await world.startServer();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(new URL('/healthz', node.url), { agent }, resolve).once('error', reject);
    });
    expect(response.headers.connection).toBe('keep-alive');
    await json(response);
    await eventually(() => Object.keys(agent.freeSockets).length === 1, { timeoutMs: 5_000 });
    const startedAt = performance.now();
    await node.stop();
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    agent.destroy();
  });

  test('a connection that never sent anything does not hold the node back', async () => {
    const node = await world.startServer();
    const silent = connect(Number(new URL(node.url).port), '127.0.0.1');
    await once(silent, 'connect');
    const startedAt = performance.now();
    await node.stop();
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    silent.destroy();
  });

  test('a long poll under way is answered, and does not hold the node back either', async () => {
    const node = await world.startServer();
    const { key } = await world.newAccount();
    const agent = new Agent({ keepAlive: true });
    const poll = new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      request(new URL('/matches', node.url), { method: 'POST', agent, headers }, resolve)
        .once('error', reject)
        .end(JSON.stringify({ order: 'oldest', wait_seconds: 30 }));
    });
    const held = await Promise.race([poll, new Promise((resolve) => setTimeout(resolve, 1_000, 'held'))]);
    expect(held).toBe('held');
    const startedAt = performance.now();
    const stopped = node.stop();
    const response = await poll;
    expect(response.statusCode).toBe(200);
    expect(operations.ListMatches.answer.parse(await json(response)).matches).toEqual([]);
    await stopped;
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    agent.destroy();
  });
});
