import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { at, createClient, listAt, textAt } from './client.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let sandbox: Sandbox;
let client: ReturnType<typeof createClient>;

beforeEach(async () => {
  sandbox = await startSandbox({ speed: 100 });
  client = createClient(sandbox);
});
afterEach(() => sandbox.close());

const minute = 60_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
/** Posts that were written a minute ago. */
const old = (posts: object[]) =>
  client.control('POST', '/x/posts', { posts: posts.map((post) => ({ created_at: ago(minute), ...post })) });
const search = (parameters: Record<string, string>) =>
  client.x(
    'GET',
    `/2/tweets/search/recent?${new URLSearchParams({ max_results: '10', ...parameters }).toString()}`,
  );
test('search finds posts that no rule matched, newest first, page by page, and each post once', async () => {
  await old(Array.from({ length: 25 }, (_, n) => ({ text: `fjord ${n}` })));
  await old([{ text: 'nothing' }]);
  const found: string[] = [];
  let token: string | undefined;
  do {
    const { status, body } = await search({ query: 'fjord', ...(token && { next_token: token }) });
    expect(status).toBe(200);
    found.push(...listAt(body, 'data').map((post) => textAt(post, 'text')));
    token = at(body, 'meta', 'next_token') as string | undefined;
  } while (token !== undefined);
  expect(found).toEqual(Array.from({ length: 25 }, (_, n) => `fjord ${24 - n}`));
});

test('a search without results has no data', async () => {
  expect((await search({ query: 'fjord' })).body).toEqual({ meta: { result_count: 0 } });
});

test('only posts of the window are found, and its end may not be younger than the index', async () => {
  await old([{ text: 'fjord before', created_at: ago(10 * minute) }, { text: 'fjord within' }]);
  await client.post('fjord now');
  const { body } = await search({ query: 'fjord', start_time: ago(2 * minute), end_time: ago(1_000) });
  expect(listAt(body, 'data')).toMatchObject([{ text: 'fjord within' }]);
  expect(
    (await search({ query: 'fjord', end_time: new Date(Date.now() + 1_000).toISOString() })).status,
  ).toBe(400);
  expect((await search({ query: 'fjord', start_time: ago(8 * 24 * 60 * minute) })).status).toBe(400);
});

test('each post that was returned is metered, and 450 calls are allowed in a window', async () => {
  await old([{ text: 'fjord' }, { text: 'glacier' }]);
  await search({ query: 'fjord' });
  const { body } = await client.control('GET', '/x/state');
  expect(at(body, 'metering')).toMatchObject([{ posts: 1 }]);
  const answer = await search({ query: 'fjord' });
  expect(answer.headers.get('x-rate-limit-limit')).toBe('450');
  expect(answer.headers.get('x-rate-limit-remaining')).toBe('448');
});
