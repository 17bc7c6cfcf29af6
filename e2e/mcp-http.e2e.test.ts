import type { ReadAnswer } from '@earshot/mcp/injections';
import { createEarshot } from '@earshot/sdk';
import { eventually } from '@earshot/testkit';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Agent, overHttp, startAgent } from './src/mcp-agent.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
/** A second node, which allows an account one concurrent request. */
let narrow: ServerUnderTest;
let account: Account;
beforeAll(async () => {
  world = await startWorld();
  server = await world.startServer();
  narrow = await world.startServer({ EARSHOT_TEST: 'requestsInFlightMax=1' });
  account = await world.newAccount();
});
afterAll(() => world?.[Symbol.asyncDispose]());

const discover = {
  jsonrpc: '2.0',
  id: 1,
  method: 'server/discover',
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'by hand', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
};

interface ByHand {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

/** A request as a client of the 2026 protocol sends it, with the changes of the test. */
async function ask({ method = 'POST', body = JSON.stringify(discover), headers = {} }: ByHand = {}) {
  const response = await fetch(new URL('/mcp', server.url), {
    method,
    headers: {
      authorization: `Bearer ${account.key}`,
      ...(method === 'POST' && { 'content-type': 'application/json' }),
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'server/discover',
      ...headers,
    },
    ...(method === 'POST' && { body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

const agentOf = ({ key }: { key: string }, url = server.url): Promise<Agent> =>
  startAgent(overHttp({ url, key }));
/** A reader exists as soon as its first call waits. */
async function readerNames(): Promise<string[]> {
  const { readers } = await createEarshot({ url: server.url, key: account.key }).listReaders();
  return readers.map(({ name }) => name);
}
const newRule = { name: 'a', intent: 'b', platforms: ['x'] };
const anything = z.looseObject({});

describe('access to /mcp', () => {
  test('with a key and no origin a client discovers the protocol', async () => {
    const { status, text } = await ask();
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ result: { supportedVersions: ['2026-07-28'] } });
  });

  test.each([
    { who: 'no key', authorization: '' },
    { who: 'an unknown key', authorization: `Bearer esk_${'0'.repeat(38)}` },
    { who: 'a key with another scheme', authorization: 'Basic YTpi' },
  ])('a request with $who gets 401 and how to authenticate', async ({ authorization }) => {
    const { status, headers, text } = await ask({ headers: { authorization } });
    expect({ status, how: headers.get('www-authenticate') }).toEqual({ status: 401, how: 'Bearer' });
    expect(JSON.parse(text)).toMatchObject({ code: 'unauthenticated' });
  });

  test.each(['https://evil.example', 'null', 'http://127.0.0.1'])(
    'a web page of %s is refused with 403, with or without a key',
    async (origin) => {
      for (const authorization of ['', `Bearer ${account.key}`]) {
        expect((await ask({ headers: { origin, authorization } })).status).toBe(403);
      }
    },
  );

  test.each(['GET', 'DELETE'])(
    '%s, a request about a session, is refused: there are none',
    async (method) => {
      expect((await ask({ method })).status).toBe(405);
    },
  );

  test.each([
    { 'mcp-method': 'tools/list' },
    { 'mcp-protocol-version': '2025-06-18' },
    { 'mcp-protocol-version': '2099-01-01' },
  ])('headers that contradict the message are refused with 400: %o', async (headers) => {
    expect((await ask({ headers })).status).toBe(400);
  });

  test.each(['2025-03-26', '2025-06-18', '2026-07-28'])(
    'a batch is refused as a whole, also from a client of %s: it would count as one request',
    async (version) => {
      const list = { jsonrpc: '2.0', method: 'tools/list', params: {} };
      const batch = [1, 2].map((id) => ({ ...list, id }));
      const headers = { 'mcp-protocol-version': version, 'mcp-method': 'tools/list' };
      const { status, text } = await ask({ body: JSON.stringify(batch), headers });
      expect(status).toBe(400);
      expect(JSON.parse(text)).toMatchObject({
        id: null,
        error: { code: -32600, message: expect.stringMatching(/^Send one message per request/) },
      });
    },
  );

  test('a subscription is acknowledged as empty and ended: there is nothing to subscribe to', async () => {
    const listen = {
      ...discover,
      method: 'subscriptions/listen',
      params: { ...discover.params, notifications: { toolsListChanged: true } },
    };
    const headers = { 'mcp-method': 'subscriptions/listen' };
    const { status, text } = await ask({ body: JSON.stringify(listen), headers });
    expect(status).toBe(200);
    const messages = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
    expect(messages).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications: {} } },
      { id: discover.id, result: { resultType: 'complete' } },
    ]);
  });
});

describe('the key of a call', () => {
  test('a change by a tool is audited with the id of the request', async () => {
    await using agent = await agentOf(account);
    const { rule_id } = await agent.call(
      'create_rule',
      { ...newRule, overrides: { x: 'audited' } },
      z.looseObject({ rule_id: z.string() }),
    );
    const { entries } = await createEarshot({ url: server.url, key: account.key }).listAudit();
    const entry = entries.find(({ target_id }) => target_id === rule_id);
    expect(entry).toMatchObject({ operation: 'CreateRule', actor: account.keyId });
    const logged = (await world.serverLog()).split('\n').filter((line) => line.includes('"Mcp"'));
    expect(logged.filter((line) => line.includes(entry?.request_id ?? '?'))).toHaveLength(1);
  });

  test('appears neither in answers nor in logs', async () => {
    await using agent = await agentOf(account);
    const texts = [
      await agent.callRaw('list_rules', {}),
      await agent.callRaw('get_rule', { rule_id: 'rule_0' }),
    ];
    expect(JSON.stringify(texts)).not.toContain(account.key);
    expect(await world.serverLog()).not.toContain(account.key);
  });
});

describe('limits', () => {
  test('a tool works where one concurrent request is allowed', async () => {
    await using agent = await agentOf(account, narrow.url);
    for (let n = 0; n < 3; n++) expect((await agent.callRaw('list_rules', {})).refusal).toBeNull();
  });

  test('a call that its client cancels frees its place', async () => {
    await using agent = await agentOf(account, narrow.url);
    const leaving = new AbortController();
    const args = { reader: 'given-up', start: 'now', wait_seconds: 30 };
    const call = agent.client.callTool(
      { name: 'wait_for_matches', arguments: args },
      { signal: leaving.signal },
    );
    const ending = call.then(() => 'an answer', String);
    await eventually(async () => expect(await readerNames()).toContain('given-up'), { timeoutMs: 20_000 });
    leaving.abort();
    expect(await ending).toMatch(/abort/i);
    // Long before the call would have ended without it.
    await eventually(async () => expect((await agent.callRaw('list_rules', {})).refusal).toBeNull(), {
      timeoutMs: 15_000,
    });
  });

  test('messages and the requests of tools count towards the limit of the key', async () => {
    const scarce = await world.newAccount();
    await world.admin.setLimits(scarce.accountId, { requests: 6 });
    const api = server.api(scarce);
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'list_rules', arguments: {} },
    };
    const headers = { accept: 'application/json, text/event-stream' };
    const statuses = [];
    for (let n = 0; n < 4; n++) statuses.push((await api.call('POST', '/mcp', call, headers)).status);
    // Three calls are six requests.
    expect(statuses).toEqual([200, 200, 200, 429]);
    const last = await api.call('POST', '/mcp', call, headers);
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('several nodes', () => {
  test('an agent whose calls alternate between two nodes keeps its place', async () => {
    const nodes = [server.url, narrow.url];
    const calls: string[] = [];
    const inTurn: typeof fetch = (_input, init) => {
      const node = nodes[calls.length % 2] ?? '';
      calls.push(node);
      return fetch(new URL('/mcp', node), init);
    };
    const { key } = await world.newAccount();
    await using agent = await startAgent(
      new StreamableHTTPClientTransport(new URL('/mcp', server.url), {
        fetch: inTurn,
        requestInit: { headers: { authorization: `Bearer ${key}` } },
      }),
    );
    await agent.call('create_rule', { ...newRule, overrides: { x: 'nodes' } }, anything);
    const texts = Array.from({ length: 10 }, (_, n) => `nodes ${n}`);
    await world.sandbox.posts(texts);
    const read: string[] = [];
    for (let ack: string | null = null; read.length < texts.length; ) {
      const start = 'oldest';
      const args = { reader: 'r', start, limit: 1, wait_seconds: 20, ...(ack !== null && { ack }) };
      const answer: ReadAnswer = await agent.read('wait_for_matches', args);
      read.push(...answer.matches.map(({ text }) => text));
      ack = answer.cursor;
    }
    expect(read.toSorted()).toEqual(texts);
    expect(calls.filter((node) => node === narrow.url).length).toBeGreaterThan(4);
  });

  test('a waiting call on a node that shuts down is answered', async () => {
    await using agent = await agentOf(account, narrow.url);
    const waiting = agent.read('wait_for_matches', { reader: 'left', wait_seconds: 30 });
    await eventually(async () => expect(await readerNames()).toContain('left'), { timeoutMs: 20_000 });
    const startedAt = performance.now();
    const [answer] = await Promise.all([waiting, narrow.stop()]);
    expect(answer.counts.found).toBe(0);
    expect(answer.own).toContain('Next: ');
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });
});
