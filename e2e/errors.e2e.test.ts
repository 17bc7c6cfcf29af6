import { once } from 'node:events';
import { connect } from 'node:net';
import {
  type ErrorCode,
  type ErrorEnvelope,
  errorCodes,
  errorSchema,
  formatKey,
  type Operation,
  operations,
} from '@earshot/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shareWorld } from './src/shared-world.ts';
import type { Account, ServerUnderTest, World } from './src/world.ts';

/** Requests that fail before they are parsed: by key, scope, path, method, size or broken HTTP. */
let world: World;
let server: ServerUnderTest;
let account: Account;

beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
  account = await world.newAccount();
});
afterAll(() => world?.[Symbol.asyncDispose]());

interface Raw {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}

const all: readonly Operation[] = Object.values(operations);

async function send(method: string, path: string, init: Omit<RequestInit, 'method'> = {}): Promise<Raw> {
  const response = await fetch(new URL(path, server.url), { method, ...init });
  const { date: _date, ...headers } = Object.fromEntries(response.headers);
  // A stream has no end to wait for.
  const isStream = headers['content-type']?.startsWith('text/event-stream');
  if (isStream) await response.body?.cancel();
  return { status: response.status, headers, text: isStream ? '' : await response.text() };
}

const sendTo = ({ method, path }: Operation, headers: Record<string, string>, body = '{}') =>
  send(method, path, {
    headers: { 'content-type': 'application/json', ...headers },
    ...(method === 'POST' && { body }),
  });

function expectError({ status, headers, text }: Raw, code: ErrorCode): ErrorEnvelope {
  const error = errorSchema.parse(JSON.parse(text));
  expect(error.code).toBe(code);
  expect(status).toBe(errorCodes[code].status);
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(error.details.request_id).toBe(headers['x-request-id']);
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(text).not.toMatch(/node_modules|\.[jt]s:\d|\bat \w+ \(|\b(acc|key|slot)_/);
  return error;
}

/** Tested for all operations at once: each unknown key counts as a guess, and an address has 60 guesses a minute. */
let invalidKeys: Record<'expired' | 'revoked', string | undefined>;
beforeAll(async () => {
  const { accountId } = account;
  const expired = await world.admin.createKey({ accountId, expiresAt: new Date(Date.now() - 1_000) });
  const revoked = await world.admin.createKey({ accountId });
  expect(await world.admin.revokeKey(revoked?.keyId ?? '')).toBe(true);
  invalidKeys = { expired: expired?.key, revoked: revoked?.key };
});

describe.each(all)('the key of $method $path', (operation) => {
  test('gives the same answer for every cause of unauthenticated, byte for byte', async () => {
    const { key } = account;
    const lastDigit = key.endsWith('0') ? '1' : '0';
    const causes: Record<string, string | undefined> = {
      missing: undefined,
      empty: '',
      malformed: 'Bearer not-a-key',
      checksum: `Bearer ${key.slice(0, -1)}${lastDigit}`,
      unknown: `Bearer ${formatKey('0'.repeat(32))}`,
      expired: `Bearer ${invalidKeys.expired}`,
      revoked: `Bearer ${invalidKeys.revoked}`,
    };
    const answers = await Promise.all(
      Object.values(causes).map((authorization) =>
        sendTo(operation, { 'x-request-id': 'same', ...(authorization !== undefined && { authorization }) }),
      ),
    );
    for (const answer of answers) {
      expectError(answer, 'unauthenticated');
      expect(answer).toEqual(answers[0]);
    }
  });
});

describe.each([operations.CreateRule, operations.ListRules])('of $method $path', (operation) => {
  test('reads a key from the Authorization header only', async () => {
    const { key } = account;
    const otherHeaders = ['x-api-key', 'api-key', 'proxy-authorization', 'x-authorization', 'cookie'].map(
      (name) => ({ [name]: name === 'cookie' ? `authorization=${key}` : `Bearer ${key}` }),
    );
    for (const headers of otherHeaders) {
      expectError(await sendTo(operation, headers), 'unauthenticated');
    }
    for (const name of ['api_key', 'key', 'access_token', 'authorization', 'token']) {
      const inQuery = await sendTo({ ...operation, path: `${operation.path}?${name}=${key}` }, {});
      expectError(inQuery, 'unauthenticated');
    }
    const inBody = await sendTo(operation, {}, JSON.stringify({ api_key: key }));
    expectError(inBody, 'unauthenticated');
  });

  test('refuses a request without a key before it reads the body', async () => {
    expectError(await sendTo(operation, {}, '{ not json'), 'unauthenticated');
    expectError(await sendTo(operation, { 'content-type': 'text/plain' }, 'x'), 'unauthenticated');
  });
});

describe('a path that does not exist', () => {
  test.each([
    '/nope',
    '/feed/',
    '/feeds/',
    `/feeds/esf_${'0'.repeat(32)}.atom`,
    '/rules/a/b',
    '/assets/',
    '/assets/../index.html',
    '/console',
    '/api.createRule',
    '/api.CreateRule/',
    '/api.ListRules/x',
    '/MATCHES',
    '/v1/matches',
  ])('%s is not_found, with a key and without', async (path) => {
    const headers = { authorization: `Bearer ${account.key}` };
    for (const method of ['GET', 'POST', 'DELETE']) {
      expectError(await send(method, path), 'not_found');
      expectError(await send(method, path, { headers }), 'not_found');
    }
  });

  test.each(['/%zz', '/%', '/matches%c0%80', '/%2e%2e/etc/passwd'])(
    'answers %s in the error format as well',
    async (path) => {
      const raw = await sendBytes(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
      expectError(raw, raw.status === 400 ? 'invalid_argument' : 'not_found');
    },
  );
});

describe('a method that a path does not have', () => {
  const taken: ReadonlyArray<readonly [path: string, methods: readonly string[]]> = [
    ...all.flatMap(({ id, method, path, ...rest }) => {
      const methods = method === 'GET' && !('stream' in rest) ? ['GET', 'POST'] : [method];
      return [...new Set([path, `/api.${id}`])].map((url) => [url, methods] as const);
    }),
    ...['/healthz', '/readyz', '/openapi.json', '/docs'].map((path) => [path, ['GET']] as const),
  ];
  test.each(taken)('%s, which takes %s, answers 405 to all others', async (path, methods) => {
    for (const other of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      // The console has a page with the same path.
      if (methods.includes(other) || (other === 'GET' && path === '/notices')) continue;
      const answer = await send(other, `${path}?a=1`);
      const { message } = expectError(answer, 'unimplemented');
      for (const method of methods) {
        expect(message).toContain(method);
        expect(String(answer.headers['allow']).split(', ')).toContain(method);
      }
    }
    const head = await send('HEAD', path);
    // Load balancers check the health with HEAD.
    expect([head.status, head.text]).toEqual([path.endsWith('z') ? 200 : 405, '']);
  });
});

describe('the size of a body', () => {
  const padded = (bytes: number) => `{}${' '.repeat(bytes - 2)}`;
  const limit = 256 * 1024;
  const post = (body: NonNullable<RequestInit['body']>, init: object = {}) =>
    send('POST', '/platforms/syntax', {
      headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
      body,
      ...init,
    });
  /** Without a length in advance: the body is sent in chunks. */
  const chunked = (text: string) => post(new Blob([text]).stream(), { duplex: 'half' });

  test('accepts 256 KiB, with a length in advance or in chunks', async () => {
    expect((await post(padded(limit))).status).toBe(200);
    expect((await chunked(padded(limit))).status).toBe(200);
  });

  test('refuses one more byte, with a length in advance or in chunks', async () => {
    expect(expectError(await post(padded(limit + 1)), 'invalid_argument').message).toContain('256 KiB');
    expect(expectError(await chunked(padded(limit + 1)), 'invalid_argument').message).toContain('256 KiB');
  });

  test('refuses an announced length that is far too large without waiting for the bytes', async () => {
    const head = `POST /platforms/syntax HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${account.key}\r\n`;
    const raw = await sendBytes(
      `${head}content-type: application/json\r\ncontent-length: 99999999999\r\n\r\n{`,
    );
    expectError(raw, 'invalid_argument');
  });
});

describe('a body that cannot be read', () => {
  const postBody = (body: NonNullable<RequestInit['body']>, contentType = 'application/json') =>
    send('POST', '/api.CreateRule', {
      headers: { authorization: `Bearer ${account.key}`, 'content-type': contentType },
      body,
    });

  test.each([
    ['blank', '  \n'],
    ['cut off', '{"rule_id": "a'],
    ['two documents', '{}{}'],
    ['NaN', '{"limit": NaN}'],
    ['an array', '[]'],
    ['a string', '"rule_1"'],
    ['null', 'null'],
    ['__proto__', '{"__proto__": {"limit": 1}}'],
    ['__proto__ in disguise', '{"\\u005f_proto__": {"limit": 1}}'],
    ['constructor.prototype', '{"constructor": {"prototype": {"limit": 1}}}'],
    ['__proto__ further in', '{"overrides": {"__proto__": {"x": "a"}}}'],
    ['100,000 nested arrays', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['bytes that are no UTF-8', Buffer.from('{"name":"caf\u00e9"}', 'latin1')],
  ])('%s', async (_, body) => {
    expectError(await postBody(body), 'invalid_argument');
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json-patch+json', 'json'])(
    'content type %s',
    async (contentType) => {
      expect(expectError(await postBody('{}', contentType), 'invalid_argument').message).toContain(
        'application/json',
      );
    },
  );
});

describe('malformed HTTP', () => {
  const post = 'POST /matches HTTP/1.1\r\nhost: a\r\n';
  test.each([
    ['no HTTP at all', 'how are you?\r\n\r\n'],
    ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc'],
    ['an unknown method', 'BREW /matches HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['a version that does not exist', 'GET /matches HTTP/9.9\r\nhost: a\r\n\r\n'],
    ['no host', 'GET /api.ListRules HTTP/1.1\r\n\r\n'],
    ['a NUL in a header', 'GET /api.ListRules HTTP/1.1\r\nhost: a\r\nx: a\u0000b\r\n\r\n'],
    ['headers without end', `GET /api.ListRules HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(40_000)}`],
    ['a length that is no number', `${post}content-length: ten\r\n\r\n{}`],
    ['two lengths', `${post}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`],
    ['two hosts', 'GET /healthz HTTP/1.1\r\nhost: a\r\nHost: b\r\n\r\n'],
    ['the same host twice', 'GET /healthz HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n'],
    [
      'chunks in HTTP/1.0',
      'POST /matches HTTP/1.0\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a length and chunks', `${post}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
  ])('%s is invalid_argument', async (_, bytes) => {
    expectError(await sendBytes(bytes), 'invalid_argument');
  });

  test('refuses two keys, whichever is valid', async () => {
    const good = `Bearer ${account.key}`;
    const bad = `Bearer ${formatKey('0'.repeat(32))}`;
    for (const [one, other] of [
      [good, bad],
      [bad, good],
      [good, good],
    ]) {
      const keys = `authorization: ${one}\r\nAuthorization: ${other}`;
      const raw = await sendBytes(`GET /api.ListRules HTTP/1.1\r\nhost: a\r\n${keys}\r\n\r\n`);
      expectError(raw, 'invalid_argument');
      expect(raw.headers['connection']).toBe('close');
    }
  });

  test('distinguishes headers that are too large from malformed HTTP', async () => {
    const { text } = await sendBytes(`GET /healthz HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`);
    expect(text).toContain('The headers are too large');
  });

  test.each(['200-ok', '100-continue'])('Expect: %s does not change the answer', async (expectation) => {
    const raw = await sendBytes(
      `GET /api.ListRules HTTP/1.1\r\nhost: a\r\nexpect: ${expectation}\r\nconnection: close\r\n\r\n`,
    );
    expectError(raw, 'unauthenticated');
  });

  test('answers a broken chunk in the error format', async () => {
    const head = `${post}authorization: Bearer ${account.key}\r\ncontent-type: application/json\r\n`;
    const raw = await sendBytes(`${head}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n`);
    expectError(raw, 'invalid_argument');
  });

  test('still serves afterwards', async () => {
    expect((await send('GET', '/healthz')).status).toBe(200);
  });
});

/** Sends the bytes unchanged, and returns the one answer up to the end of the connection. */
async function sendBytes(bytes: string): Promise<Raw> {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.write(Buffer.from(bytes, 'latin1'));
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
    // Some answers keep the connection open.
    if (/\r\n\r\n.+$/s.test(answer.replace(/^HTTP\/1\.1 100 .*?\r\n\r\n/s, ''))) socket.end();
  });
  socket.setTimeout(10_000, () => socket.destroy());
  await once(socket, 'close');
  const [head = '', text = ''] = answer.replace(/^HTTP\/1\.1 100 .*?\r\n\r\n/s, '').split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => line.split(/: (.*)/s).slice(0, 2));
  return { status: Number(statusLine.split(' ')[1]), headers: Object.fromEntries(headers), text };
}
