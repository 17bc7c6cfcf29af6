import { afterEach, describe, expect, test } from 'vitest';
import { type Answer, startAnsweringServer } from '../../../test/answering-server.ts';
import { createUpstreamClient } from '../client.ts';
import { createXSearch } from './search.ts';

const query = {
  value: 'acme',
  rule: { id: '1', tag: 'tag' },
  from: new Date('2026-11-16T10:00:00Z'),
  to: new Date('2026-11-16T10:05:00Z'),
  size: 10,
  token: null,
};
const never = new AbortController().signal;
const page = { status: 200, body: { data: [{ id: '2', text: 'acme' }], meta: {} } };
const unknown = (parameter: string): Answer => ({
  status: 400,
  body: {
    errors: [
      { parameters: { [parameter]: ['x'] }, message: `The query parameter [${parameter}] is not one of […]` },
    ],
    title: 'Invalid Request',
    detail: 'One or more parameters to your request was invalid.',
    type: 'https://api.twitter.com/2/problems/invalid-request',
  },
});

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

async function searchThatAnswers(
  answers: readonly Answer[],
  options: Parameters<typeof createXSearch>[1] = {},
) {
  const server = stack.use(await startAnsweringServer(answers));
  const client = stack.use(createUpstreamClient({ baseUrl: server.url, token: 't', name: 'X' }));
  const search = createXSearch(client, options);
  /** The parameters of each call that select what X sends with a post. */
  const words = () =>
    server.asked.map((path) =>
      [...new URL(String(path), server.url).searchParams.keys()].filter((name) =>
        /fields|expansions/.test(name),
      ),
    );
  return { search, words, paths: server.asked };
}

describe('the field names of a search', () => {
  const newer = ['post.fields', 'expansions', 'user.fields'];
  const older = ['tweet.fields', 'expansions', 'user.fields'];

  test('are the current ones first', async () => {
    const { search, words } = await searchThatAnswers([page]);
    expect(await search.page(query, never)).toMatchObject({ kind: 'page' });
    expect(words()).toEqual([newer]);
  });

  test('fall back to legacy names and remember it', async () => {
    const { search, words } = await searchThatAnswers([unknown('post.fields'), page, page]);
    expect(await search.page(query, never)).toMatchObject({ kind: 'page' });
    expect(await search.page(query, never)).toMatchObject({ kind: 'page' });
    expect(words()).toEqual([newer, older, older]);
  });

  test('are omitted if X accepts neither', async () => {
    const { search, words } = await searchThatAnswers([unknown('expansions'), unknown('user.fields'), page]);
    expect(await search.page(query, never)).toMatchObject({ kind: 'page', items: [{}] });
    expect(words()).toEqual([newer, older, []]);
  });

  test('stay the same if X refuses the query', async () => {
    const { search, words } = await searchThatAnswers([unknown('query'), page]);
    expect(await search.page(query, never)).toEqual({
      kind: 'refused',
      words: 'Invalid Request, One or more parameters to your request was invalid.',
    });
    expect(words()).toHaveLength(1);
  });
});

test('results with newer names are stored with the names of the stream, each with its own includes', async () => {
  const body = {
    data: [
      {
        id: '2',
        text: 'RT',
        author_id: '7',
        note_post: { text: 'long' },
        edit_history_post_ids: ['2'],
        referenced_posts: [{ type: 'retweeted', id: '1' }],
        public_metrics: { repost_count: 3 },
      },
      { id: '3', text: 'acme', author_id: '8' },
    ],
    includes: {
      posts: [{ id: '1', text: 'acme' }],
      users: [
        { id: '7', username: 'a' },
        { id: '8', username: 'b' },
      ],
    },
    meta: {},
  };
  const { search } = await searchThatAnswers([{ status: 200, body }]);
  const found = await search.page(query, never);
  expect(found.kind === 'page' && found.items.map(({ text }) => JSON.parse(text))).toEqual([
    {
      data: {
        id: '2',
        text: 'RT',
        author_id: '7',
        note_tweet: { text: 'long' },
        edit_history_tweet_ids: ['2'],
        referenced_tweets: [{ type: 'retweeted', id: '1' }],
        public_metrics: { retweet_count: 3 },
      },
      includes: { tweets: [{ id: '1', text: 'acme' }], users: [{ id: '7', username: 'a' }] },
      matching_rules: [query.rule],
    },
    { data: body.data[1], includes: { users: [{ id: '8', username: 'b' }] }, matching_rules: [query.rule] },
  ]);
});

test.each([
  [{}, 512],
  [{ archive: 'all' }, 1_024],
  [{ plan: 'enterprise' }, 4_096],
] as const)('with %j, queries of up to %i characters can be searched', async (options, lengthMax) => {
  const { search } = await searchThatAnswers([], options);
  const value = (length: number) => `acme ${'x'.repeat(length - 5)}`;
  expect(search.fidelityOf(value(lengthMax))).toMatchObject({ searchable: true });
  expect(search.fidelityOf(value(lengthMax + 1))).toEqual({
    searchable: false,
    because: 'value_too_long_to_search',
  });
});

test('the full archive is searched if configured', async () => {
  const { search, paths } = await searchThatAnswers([page], { archive: 'all' });
  await search.page(query, never);
  expect(String(paths[0])).toMatch(/^\/2\/tweets\/search\/all\?/);
  expect(search.reachesBackMs).toBeGreaterThan(30 * 24 * 3_600_000);
});

test('a refusal for lack of access keeps the text of X', async () => {
  const body = {
    title: 'Client Forbidden',
    reason: 'client-not-enrolled',
    detail: 'You must use keys of a Project.',
  };
  const { search } = await searchThatAnswers([{ status: 403, body }]);
  await expect(search.page(query, never)).rejects.toThrow(
    'X answered 403 to a search: Client Forbidden, client-not-enrolled, You must use keys of a Project.',
  );
});
