import { getEventListeners, once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { scopes as allScopes, openApiDocument, operations } from '@earshot/contract';
import { pino } from 'pino';
import { describe, expect, test, vi } from 'vitest';
import { serverWith, testPrincipal, uncalledHandlers } from '../../test/http-server.ts';
import type { Principal } from '../accounts/call.ts';
import type { ConsoleSessions } from '../accounts/console-sessions.ts';
import { keyRefused, newKey } from '../accounts/keys.ts';
import { createMetrics } from '../observability/metrics.ts';
import { Failure } from '../runtime/failure.ts';
import type { Handlers } from './handlers.ts';
import { startMetricsServer } from './metrics-server.ts';

test('a caller that disconnects while its key is looked up frees its place', async () => {
  const started = Promise.withResolvers<void>();
  const known = Promise.withResolvers<Principal>();
  const released = Promise.withResolvers<void>();
  await using server = serverWith({
    authenticate: () => {
      started.resolve();
      return known.promise;
    },
    limits: { admit: () => ({ headers: {}, refusal: null, release: () => released.resolve() }) },
  });
  const url = new URL(await server.listen('127.0.0.1', 0));
  const socket = connect(Number(url.port), url.hostname);
  socket.write('POST /api.ListKeys HTTP/1.1\r\nhost: e\r\ncontent-length: 2\r\n\r\n{}');
  await started.promise;
  socket.destroy();
  await once(socket, 'close');
  // When these answers arrive, the server has seen the other connection end.
  for (let n = 0; n < 3; n++) await (await fetch(new URL('/healthz', url))).text();
  known.resolve(testPrincipal);
  await expect(released.promise).resolves.toBeUndefined();
});

describe('with a console', () => {
  // None of these requests reaches it.
  const sessions = {} as unknown as ConsoleSessions;

  test('an unknown path shows a browser the page of the console, and a program the error', async () => {
    const consoleFolder = await mkdtemp(join(tmpdir(), 'earshot-console-'));
    await mkdir(join(consoleFolder, 'assets'));
    await writeFile(join(consoleFolder, 'index.html'), '<p>console');
    await using server = serverWith({ sessions, consoleFolder });
    const url = await server.listen('127.0.0.1', 0);
    const get = async (path: string, accept: string) => {
      const answer = await fetch(new URL(path, url), { headers: { accept } });
      return [answer.status, await answer.text()];
    };
    const browser = 'text/html,application/xhtml+xml,*/*;q=0.8';
    expect(await get('/webhooks/a/b', browser)).toEqual([404, '<p>console']);
    expect(await get('/webhooks/a/b', '*/*')).toEqual([404, expect.stringContaining('"not_found"')]);
    expect(await get('/api.PauseRule', browser)).toEqual([405, expect.stringContaining('"code"')]);
    await rm(consoleFolder, { recursive: true });
  });

  test('a wrong key at sign-in is answered in words for a person', async () => {
    await using server = serverWith({ sessions, authenticate: () => Promise.reject(keyRefused()) });
    const url = await server.listen('127.0.0.1', 0);
    const answer = await fetch(new URL('/console/session', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-earshot-console': '1', origin: url },
      body: '{"key":"esk_wrong"}',
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      401,
      { code: 'unauthenticated', message: expect.stringMatching(/^This API key is not valid\./) },
    ]);
  });
});

describe('a key that ends while it is in use', () => {
  const revocation = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"key_id":"key_2"}',
  };
  /** A server with one handler and a watched key. */
  const withKey = (handler: Partial<Handlers>) => {
    const key = new AbortController();
    const watched = new Set<string>();
    const watch = ({ keyId }: Pick<Principal, 'keyId'>) => {
      watched.add(keyId);
      return { ended: key.signal, [Symbol.dispose]: () => void watched.delete(keyId) };
    };
    const server = serverWith({ handlers: { ...uncalledHandlers, ...handler }, keyWatch: { watch } });
    return { server, key, watched };
  };

  test('ends an answer that is partly sent', async () => {
    const endless = new Readable({ read: () => undefined });
    endless.push('{"rules":[');
    const { server, key, watched } = withKey({ ListRules: async () => endless });
    await using _ = server;
    const url = await server.listen('127.0.0.1', 0);
    const response = await fetch(new URL('/api.ListRules', url));
    expect(watched).toEqual(new Set(['key_1']));
    key.abort();
    await expect(response.text()).rejects.toThrow('terminated');
    await expect.poll(() => endless.destroyed).toBe(true);
    expect(watched).toEqual(new Set());
  });

  test('does not affect the answer of a change, which would otherwise seem not made', async () => {
    const answer = { key_id: 'key_2', revoked_at: new Date().toISOString() };
    const { server, key } = withKey({
      RevokeKey: async ({ signal }) => {
        key.abort();
        expect(signal.aborted).toBe(true);
        return answer;
      },
    });
    await using _ = server;
    const url = await server.listen('127.0.0.1', 0);
    const response = await fetch(new URL('/api.RevokeKey', url), revocation);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(answer);
  });

  test('has no listeners of requests that have ended', async () => {
    const during = Promise.withResolvers<number>();
    const { server, key } = withKey({
      RevokeKey: async () => {
        during.resolve(getEventListeners(key.signal, 'abort').length);
        return { key_id: 'key_2', revoked_at: new Date().toISOString() };
      },
    });
    await using _ = server;
    const url = await server.listen('127.0.0.1', 0);
    await (await fetch(new URL('/api.RevokeKey', url), revocation)).text();
    expect(await during.promise).toBe(1);
    await expect.poll(() => getEventListeners(key.signal, 'abort').length).toBe(0);
  });
});

test('the log has the address of every request, and the key that was accepted', async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => lines.push(line) });
  const { key } = newKey();
  await using server = serverWith(
    {
      handlers: { ...uncalledHandlers, ListKeys: async () => ({ keys: [], next_cursor: null }) },
      authenticate: (sent) => (sent ? Promise.resolve(testPrincipal) : Promise.reject(keyRefused())),
    },
    log,
  );
  const url = new URL(await server.listen('127.0.0.1', 0));
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const ask = async (path: string, body: object, more = {}) => {
    await (
      await fetch(new URL(path, url), {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify(body),
      })
    ).text();
  };
  const authorization = `Bearer ${key}`;
  await ask('/api.ListKeys', {}, { authorization });
  await ask('/api.ListKeys', {});
  await ask('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }, { authorization });
  await ask('/nowhere', {}, { authorization });
  const socket = connect(Number(url.port), url.hostname).end('nonsense\r\n\r\n').resume();
  await once(socket, 'close');

  await expect.poll(() => lines).toHaveLength(5);
  const logged = lines.map((line) => {
    const { operation, status, address, keyId, accountId } = JSON.parse(line);
    return [operation, status, address, keyId, accountId];
  });
  const accepted = ['127.0.0.1', 'key_1', 'acc_1'];
  const unknown = ['127.0.0.1', undefined, undefined];
  expect(logged).toEqual([
    ['ListKeys', 200, ...accepted],
    ['ListKeys', 401, ...unknown],
    ['Mcp', expect.any(Number), ...accepted],
    ['other', 404, ...unknown],
    ['other', 400, ...unknown],
  ]);
  expect(lines.filter((line) => line.includes(key))).toEqual([]);
});

test.each([
  [[], '198.51.100.1, 203.0.113.7', '127.0.0.1'],
  // The part before it was sent by the caller; the part after it, by a proxy.
  [['127.0.0.1', '203.0.113.0/24'], '198.51.100.1, 192.0.2.1, 203.0.113.7', '192.0.2.1'],
])('behind the proxies %j, X-Forwarded-For: %s means %s', async (trustedProxies, forwarded, expected) => {
  const addresses: string[] = [];
  await using server = serverWith({
    trustedProxies,
    authenticate: async (_, address) => {
      addresses.push(address);
      throw keyRefused();
    },
  });
  const url = await server.listen('127.0.0.1', 0);
  await fetch(new URL('/api.ListRules', url), { headers: { 'x-forwarded-for': forwarded } });
  expect(addresses).toEqual([expected]);
});

test('a request id is taken from the caller, unless it is an API key: ids are logged and returned', async () => {
  await using server = serverWith({});
  const url = new URL('/healthz', await server.listen('127.0.0.1', 0));
  const idOf = async (sent: string) =>
    (await fetch(url, { headers: { 'x-request-id': sent } })).headers.get('x-request-id');
  expect(await idOf('my-request.1')).toBe('my-request.1');
  expect(await idOf(newKey().key)).toMatch(/^req_/);
});

test('without an authorization server there is no OAuth, and a 401 does not mention it', async () => {
  await using server = serverWith({ authenticate: () => Promise.reject(keyRefused()) });
  const url = await server.listen('127.0.0.1', 0);
  const metadata = ['oauth-protected-resource/mcp', 'oauth-authorization-server'];
  for (const path of ['/oauth/auth', ...metadata.map((one) => `/.well-known/${one}`)])
    expect((await fetch(new URL(path, url))).status).toBe(404);
  const refused = await fetch(new URL('/mcp', url), { method: 'POST', body: '{}' });
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
});

test('data that follows a request without a known end is not processed', async () => {
  const carriedOut: string[] = [];
  const ListKeys = async () => {
    carriedOut.push('ListKeys');
    return { keys: [], next_cursor: null };
  };
  await using server = serverWith({ handlers: { ...uncalledHandlers, ListKeys } });
  const url = new URL(await server.listen('127.0.0.1', 0));
  const next =
    'POST /api.ListKeys HTTP/1.1\r\nhost: e\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}';
  const send = async (bytes: string) => {
    const socket = connect(Number(url.port), url.hostname);
    let answer = '';
    socket.on('data', (chunk) => (answer += String(chunk))).write(bytes);
    await once(socket, 'close');
    return answer.match(/HTTP\/1\.1 \d+/g);
  };
  const chunks = 'transfer-encoding: chunked\r\nconnection: keep-alive\r\n\r\n0\r\n\r\n';
  expect(await send(`POST /api.ListKeys HTTP/1.0\r\nhost: e\r\n${chunks}${next}`)).toEqual(['HTTP/1.1 400']);
  expect(await send(`GET /healthz HTTP/1.1\r\nhost: e\r\nhost: f\r\n\r\n${next}`)).toEqual(['HTTP/1.1 400']);
  expect(carriedOut).toEqual([]);
});

test('every answer has `nosniff`, so that browsers do not guess its type', async () => {
  await using server = serverWith({
    handlers: { ...uncalledHandlers, ListRules: async () => Readable.from(['{}']) },
  });
  const url = await server.listen('127.0.0.1', 0);
  await using metrics = await startMetricsServer({
    host: '127.0.0.1',
    port: 0,
    metrics: createMetrics(),
    isReady: async () => [],
  });
  const paths = [
    '/docs',
    '/docs/scalar.js',
    '/llms.txt',
    '/openapi.json',
    '/rules.schema.json',
    '/healthz',
    '/nowhere',
    '/%zz',
    '/mcp',
    '/api.ListRules',
  ];
  const urls = [
    ...paths.map((path) => `${url}${path}`),
    ...['/metrics', '/healthz', '/readyz', '/'].map((path) => `http://127.0.0.1:${metrics.port}${path}`),
  ];
  for (const one of urls) {
    const { headers } = await fetch(one);
    expect([one, headers.get('x-content-type-options')]).toEqual([one, 'nosniff']);
  }
});

test('probes are answered on both ports, support HEAD, give reasons, and are not logged', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  let missing: string[] = [];
  const isReady = () => Promise.resolve(missing);
  await using server = serverWith({ isReady }, log);
  const url = await server.listen('127.0.0.1', 0);
  const onMetricsPort = { host: '127.0.0.1', port: 0, metrics: createMetrics(), isReady };
  await using metrics = await startMetricsServer(onMetricsPort);
  const both = [url, `http://127.0.0.1:${metrics.port}`];
  for (const base of both) {
    const ask = async (method: string, path: string) => {
      const answer = await fetch(`${base}${path}`, { method });
      return { status: answer.status, text: await answer.text() };
    };
    missing = [];
    expect(await ask('GET', '/healthz')).toEqual({ status: 200, text: '{"status":"ok"}' });
    expect(await ask('GET', '/readyz')).toEqual({ status: 200, text: '{"status":"ready"}' });
    for (const path of ['/healthz', '/readyz'])
      expect(await ask('HEAD', path)).toEqual({ status: 200, text: '' });
    missing = ['nats'];
    expect(await ask('GET', '/readyz')).toEqual({
      status: 503,
      text: expect.stringMatching(/not ready: nats/i),
    });
    expect(await ask('HEAD', '/readyz')).toEqual({ status: 503, text: '' });
    expect(await ask('HEAD', '/healthz')).toEqual({ status: 200, text: '' });
  }
  expect(lines).toEqual([]);
  // Shows that other requests are logged.
  await (await fetch(`${url}/nowhere`)).text();
  await expect.poll(() => lines.length).toBe(1);
});

test('connections that cannot be accepted do not end the process', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen');
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  await using server = serverWith({}, log);
  await server.listen('127.0.0.1', 0);
  const onMetricsPort = { host: '127.0.0.1', port: 0, metrics: createMetrics(), isReady: async () => [] };
  await using _metrics = await startMetricsServer(onMetricsPort);
  const servers = listen.mock.contexts.filter((one) => one instanceof Server);
  listen.mockRestore();
  expect(servers).toHaveLength(2);
  // Like Node. Twice, because a listener with `once` would not be enough.
  for (const one of [...servers, ...servers]) one.emit('error', new Error('accept ENFILE'));
  expect(lines.filter((line) => line.includes('accept ENFILE'))).toHaveLength(2);
});

test('a server that closes does not wait for idle or silent connections, but for a long poll', async () => {
  const started = Promise.withResolvers<void>();
  const ListMatches: Handlers['ListMatches'] = async ({ signal }) => {
    started.resolve();
    await once(signal, 'abort');
    return { matches: [], next_cursor: null, coverage: null };
  };
  const server = serverWith({
    authenticate: async () => ({ ...testPrincipal, scopes: ['matches:read'] }),
    handlers: { ...uncalledHandlers, ListMatches },
  });
  const url = new URL(await server.listen('127.0.0.1', 0));
  const agent = new Agent({ keepAlive: true });
  const idle = request(new URL('/healthz', url), { agent }).end();
  const [answer]: IncomingMessage[] = await once(idle, 'response');
  answer?.resume();
  await expect.poll(() => Object.keys(agent.freeSockets)).toHaveLength(1);
  const silent = connect(Number(url.port), url.hostname);
  await once(silent, 'connect');
  const headers = { 'content-type': 'application/json' };
  const body = '{"order":"oldest","wait_seconds":30}';
  const poll = fetch(new URL('/matches', url), { method: 'POST', headers, body });
  await started.promise;
  const startedAt = performance.now();
  await server[Symbol.asyncDispose]();
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  const polled = await poll;
  expect([polled.status, await polled.json()]).toEqual([
    200,
    { matches: [], next_cursor: null, coverage: null },
  ]);
  silent.destroy();
  agent.destroy();
});

test('/openapi.json is the document of the contract, and /metrics has its own port', async () => {
  await using server = serverWith({});
  const url = await server.listen('127.0.0.1', 0);
  const document = await fetch(`${url}/openapi.json`);
  expect(document.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(await document.json()).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
  expect((await fetch(`${url}/metrics`)).status).toBe(404);
});

test.each(['/healthz', '/healthz?probe=1', '/health%7A'])(
  'a node that shuts down answers %s',
  async (path) => {
    await using server = serverWith({});
    const url = await server.listen('127.0.0.1', 0);
    server.drain();
    expect((await fetch(`${url}${path}`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
  },
);

describe('a POST without a body', () => {
  const posts = Object.values(operations).filter(({ method }) => method === 'POST');
  const wayOf: Record<string, Record<string, string>> = {
    'no content type': { 'content-length': '0' },
    'no length either': {},
    'application/json': { 'content-type': 'application/json', 'content-length': '0' },
    'application/json in chunks': { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    'chunks without a type': { 'transfer-encoding': 'chunked' },
    'the type of a form': { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' },
    'text/plain': { 'content-type': 'text/plain;charset=UTF-8', 'content-length': '0' },
  };

  test.each(Object.keys(wayOf))('is read as {}: %s', async (way) => {
    const requests: unknown[] = [];
    const scopes = [...new Set(posts.flatMap(({ scope }) => scope ?? []))];
    await using server = serverWith({
      authenticate: async () => ({ ...testPrincipal, scopes }),
      handlers: {
        ...uncalledHandlers,
        ListReaders: async ({ request }) => {
          requests.push(request);
          return { readers: [], next_cursor: null };
        },
      },
    });
    const url = new URL(await server.listen('127.0.0.1', 0));
    const send = async (path: string, headers: Record<string, string>, body = '') => {
      const socket = connect(Number(url.port), url.hostname);
      const lines = Object.entries({ host: 'e', connection: 'close', ...headers });
      const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      const content = headers['transfer-encoding'] ? '0\r\n\r\n' : body;
      socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n${content}`);
      return (await text(socket)).replaceAll(/req_\w+/g, 'req').replace(/^date: .*$/im, '');
    };
    const json = { 'content-type': 'application/json', 'content-length': '2' };
    for (const { path } of posts)
      expect(await send(path, wayOf[way] ?? {})).toBe(await send(path, json, '{}'));
    expect(requests).toEqual([{ limit: 100 }, { limit: 100 }]);
    expect(await send('/api.DeleteRule', wayOf[way] ?? {})).toContain('"violations":[{"field":"rule_id"');
  });
});

describe('the routes of operations', () => {
  const rows = Object.values(operations);
  const called: string[] = [];
  const recording = Object.fromEntries(
    rows.map(({ id }) => [
      id,
      async () => {
        called.push(id);
        throw new Failure('not_found', 'recorded');
      },
    ]),
  ) as unknown as typeof uncalledHandlers;
  const open = () =>
    serverWith({
      authenticate: async () => ({ ...testPrincipal, scopes: [...allScopes] }),
      handlers: recording,
    });

  test('are the path of the contract and /api.<Name>', async () => {
    await using server = open();
    const url = await server.listen('127.0.0.1', 0);
    for (const { id, path, method, example } of rows) {
      for (const one of new Set([path, `/api.${id}`])) {
        const target = new URL(one, url);
        const body = method === 'GET' ? null : JSON.stringify(example.request);
        if (body === null)
          for (const [name, value] of Object.entries(example.request))
            target.searchParams.set(name, String(value));
        called.length = 0;
        const { status } = await fetch(target, {
          method,
          body,
          headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
        });
        expect([one, status, called]).toEqual([one, 404, [id]]);
      }
    }
  });

  test('ListRules also takes POST, with its parameters in the body', async () => {
    const requests: unknown[] = [];
    await using server = serverWith({
      authenticate: async () => ({ ...testPrincipal, scopes: [...allScopes] }),
      handlers: {
        ...uncalledHandlers,
        ListRules: async ({ request }) => {
          requests.push(request);
          return { rules: [], next_cursor: null };
        },
      },
    });
    const url = await server.listen('127.0.0.1', 0);
    const headers = { authorization: 'Bearer key', 'content-type': 'application/json' };
    const post = await fetch(new URL('/api.ListRules', url), {
      method: 'POST',
      headers,
      body: '{"limit":7}',
    });
    const get = await fetch(new URL('/api.ListRules?limit=7', url), { headers });
    expect([post.status, get.status, requests]).toEqual([200, 200, [{ limit: 7 }, { limit: 7 }]]);
  });

  test('answer another method with 405 and the allowed ones', async () => {
    await using server = open();
    const url = await server.listen('127.0.0.1', 0);
    const answered = async (method: string, path: string) => {
      const response = await fetch(new URL(path, url), { method });
      const { code } = (await response.json()) as { code: string };
      return [response.status, response.headers.get('allow'), code];
    };
    expect(await answered('GET', '/api.CreateRule')).toEqual([405, 'POST', 'unimplemented']);
    expect(await answered('DELETE', '/api.ListRules')).toEqual([405, 'GET, POST', 'unimplemented']);
    expect(await answered('POST', '/matches/stream')).toEqual([405, 'GET', 'unimplemented']);
    expect(await answered('POST', '/api.Unknown')).toEqual([404, null, 'not_found']);
  });
});
