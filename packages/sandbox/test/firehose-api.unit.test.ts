import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { defaultManagementKey, type Sandbox, startSandbox } from '../src/index.ts';
import { at, createClient, listAt, textAt } from './client.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let sandbox: Sandbox;
let client: ReturnType<typeof createClient>;

beforeEach(async () => {
  sandbox = await startSandbox();
  client = createClient(sandbox);
});
afterEach(() => sandbox.close());

const manage = (method: string, path: string, body?: object) =>
  client.call(method, path, defaultManagementKey, body);

describe('taps', () => {
  test('are created with the token beside the data, listed with it, renamed and deleted', async () => {
    const created = await manage('POST', '/v1/taps', { name: 'desk-energy' });
    expect(created.status).toBe(201);
    const token = textAt(created.body, 'token');
    const id = textAt(created.body, 'data', 'id');
    expect(created.body).toEqual({
      data: { id, name: 'desk-energy', token_prefix: token.slice(0, 6), created_at: expect.any(String) },
      token: expect.stringMatching(/^fh_[0-9A-Za-z]{40}$/),
    });
    const listed = await manage('GET', '/v1/taps');
    expect(listAt(listed.body, 'data')).toContainEqual(
      expect.objectContaining({ id, token, rules_count: 0, last_used_at: null }),
    );
    expect((await manage('PUT', `/v1/taps/${id}`, { name: 'desk' })).body).toMatchObject({
      data: { name: 'desk' },
    });
    expect((await manage('GET', `/v1/taps/${id}`)).body).toMatchObject({ data: { name: 'desk' } });
    expect((await manage('DELETE', `/v1/taps/${id}`)).status).toBe(204);
    expect((await client.call('GET', '/v1/rules', token)).status).toBe(401);
    expect((await manage('GET', `/v1/taps/${id}`)).status).toBe(404);
  });

  test('end their streams when they are deleted', async () => {
    await client.addTapRule('title:fjord');
    const stream = await client.openTap();
    const { body } = await manage('GET', '/v1/taps');
    await manage('DELETE', `/v1/taps/${textAt(body, 'data', 0, 'id')}`);
    await stream.frame();
    expect(await stream.frame()).toBeUndefined();
  });

  test('match and send nothing while they are paused', async () => {
    await client.addTapRule('title:fjord');
    const [before] = await client.page('fjord');
    const { body } = await manage('GET', '/v1/taps');
    const path = `/v1/taps/${textAt(body, 'data', 0, 'id')}`;
    expect((await manage('PUT', path, { status: 'paused' })).body).toMatchObject({
      data: { status: 'paused' },
    });
    const stream = await client.openTap('?since=1h');
    await stream.frame();
    expect(at((await client.control('GET', '/firehose/state')).body, 'metering', 'events_delivered')).toBe(0);
    expect(await client.page('fjord')).toEqual([undefined]);
    await manage('PUT', path, { status: 'active' });
    expect((await stream.frame())?.id).toBe(before);
    expect(await client.page('fjord')).toEqual([expect.stringMatching(/^0-[0-9]+$/)]);
  });

  test('are closed to tap tokens, as rules are to the management key', async () => {
    expect((await client.tap('GET', '/v1/taps')).status).toBe(401);
    expect((await manage('GET', '/v1/rules')).status).toBe(401);
    expect((await client.call('GET', '/v1/stream')).status).toBe(401);
  });
});

describe('rules', () => {
  test('are created, read, changed under the same id, listed and deleted', async () => {
    const created = await client.tap('POST', '/v1/rules', { value: 'title:"heat pump"', tag: 'desk' });
    expect(created.status).toBe(201);
    const id = textAt(created.body, 'data', 'id');
    expect(created.body).toEqual({ data: { id, value: 'title:"heat pump"', tag: 'desk' } });
    const changed = await client.tap('PUT', `/v1/rules/${id}`, { value: 'title:solar', quality: false });
    expect(changed).toMatchObject({
      status: 200,
      body: { data: { id, value: 'title:solar', tag: 'desk', quality: false } },
    });
    expect((await client.tap('GET', `/v1/rules/${id}`)).body).toEqual(changed.body);
    expect((await client.tap('GET', '/v1/rules')).body).toEqual({
      data: [at(changed.body, 'data')],
      meta: { count: 1 },
    });
    expect((await client.tap('DELETE', `/v1/rules/${id}`)).status).toBe(204);
    expect((await client.tap('DELETE', `/v1/rules/${id}`)).status).toBe(404);
  });

  test.each([
    ['no value', {}],
    ['an unbalanced group', { value: '(solar' }],
    ['an unknown field', { value: 'lang:en' }],
    ['only NOT', { value: 'NOT solar' }],
    ['a long tag', { value: 'solar', tag: 'x'.repeat(256) }],
    ['a flag that is no flag', { value: 'solar', nsfw: 'yes' }],
  ])('answer 422 to %s', async (_case, body) => {
    const answer = await client.tap('POST', '/v1/rules', body);
    expect(answer).toMatchObject({
      status: 422,
      body: { message: expect.any(String), errors: expect.any(Object) },
    });
  });

  test('answer 422 beyond the cap of the tap', async () => {
    await using small = await startSandbox({ taps: [{ token: 'fh_sandbox', ruleCap: 1 }] });
    const other = createClient(small);
    await other.addTapRule('solar');
    expect((await other.tap('POST', '/v1/rules', { value: 'wind' })).status).toBe(422);
  });

  test('take 60 calls a minute, then answer 429 with Retry-After', async () => {
    for (let call = 0; call < 60; call += 1) expect((await client.tap('GET', '/v1/rules')).status).toBe(200);
    const refused = await client.tap('GET', '/v1/rules');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  });

  test('can be validated without a key only at the public endpoint', async () => {
    expect((await client.call('POST', '/v1/validate', undefined, { value: 'solar' })).status).toBe(401);
  });
});

describe('flags', () => {
  const deliver = async (page: object) => {
    const { body } = await client.control('POST', '/firehose/pages', { title: 'fjord', ...page });
    return listAt(body, 'pages', 0, 'events').length;
  };

  test('quality keeps fresh articles and drops indexes, query strings, old and undated pages', async () => {
    await client.addTapRule('title:fjord');
    expect(await deliver({ url: 'https://news.example/a' })).toBe(1);
    expect(await deliver({ url: 'https://news.example/a?id=1' })).toBe(0);
    expect(await deliver({ url: 'https://news.example/list/page/3' })).toBe(0);
    expect(await deliver({ url: 'https://news.example/tag/x' })).toBe(0);
    expect(await deliver({ url: 'https://news.example/b', publish_time: '2020-01-01T00:00:00' })).toBe(0);
    expect(await deliver({ url: 'https://news.example/c', publish_time: null })).toBe(0);
  });

  test('quality false lets them pass, nsfw true lets adult pages pass', async () => {
    await client.addTapRule('title:fjord', { quality: false });
    expect(await deliver({ url: 'https://news.example/a?id=1', publish_time: null })).toBe(1);
    expect(await deliver({ url: 'https://news.example/b', nsfw: true })).toBe(0);
    await client.addTapRule('title:fjord', { nsfw: true });
    expect(await deliver({ url: 'https://news.example/b', nsfw: true })).toBe(1);
  });
});
