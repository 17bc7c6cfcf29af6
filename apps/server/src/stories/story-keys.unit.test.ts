import { expect, test } from 'vitest';
import { readBlueskyPost } from '../upstream/bluesky/item.ts';
import { readFirehoseUpdate } from '../upstream/firehose/item.ts';
import type { Reading } from '../upstream/item.ts';
import { readXRecord } from '../upstream/x/item.ts';
import { keysMax, linksMax, storyItemOf } from './story-keys.ts';

function itemOf(reading: Reading) {
  if (reading.kind !== 'item') throw new Error('not an item');
  return storyItemOf(reading.item);
}

const longText = 'The turbine hall was quiet when the first engineers arrived before dawn';

function xPost(id: string, data: object = {}) {
  const record = { data: { id, text: 'short', ...data }, matching_rules: [] };
  return itemOf(readXRecord('x:main', JSON.stringify(record)));
}

function page(url: string, document: object = {}) {
  const update = { query_ids: ['1'], matched_at: '2026-11-14T10:00:00Z', document: { url, ...document } };
  return itemOf(readFirehoseUpdate('firehose:main', '0-1', JSON.stringify(update)));
}

function blueskyPost(rkey: string, record: object = {}, did = 'did:plc:author') {
  const time = '2026-11-14T10:00:00.000Z';
  const post = { did, time, rkey, cid: 'c', record: { text: 'short', createdAt: time, ...record } };
  return itemOf(readBlueskyPost('bluesky:jetstream', JSON.stringify({ id: '1-1', rules: ['1'], post })));
}

type Item = ReturnType<typeof storyItemOf>;

/** Why the second item belongs to the story of the first; null if it does not. */
function reasonOf(first: Item, second: Item): string | null {
  const known = new Set(first.keys.map(({ key }) => key));
  return second.keys.find(({ key }) => known.has(key))?.because ?? null;
}

const id = '1989472511223344556';
const other = '1989472511223399999';
const linking = (...urls: object[]) => ({ entities: { urls } });

test.each([
  ['a repost', { referenced_tweets: [{ type: 'retweeted', id }] }, 'repost'],
  ['a quote', { referenced_tweets: [{ type: 'quoted', id }] }, 'quote'],
  ['a reply', { referenced_tweets: [{ type: 'replied_to', id }], conversation_id: id }, 'reply'],
  ['a later reply', { conversation_id: id }, 'conversation'],
  ['an edit', { edit_history_tweet_ids: [id, other] }, 'same_page'],
  ['a link to the post', linking({ expanded_url: `https://twitter.com/a/status/${id}/photo/1` }), 'same_url'],
  ['another post', {}, null],
  ['a link to another post', linking({ expanded_url: `https://x.com/a/status/${other}` }), null],
  ['fields in another form', { referenced_tweets: 'x', entities: { urls: [null, 1] } }, null],
] as const)('%s of X belongs to the story of the post: %s', (_, data, because) => {
  expect(reasonOf(xPost(id, { conversation_id: id }), xPost(other, data))).toBe(because);
});

test('a post links to a page by where its short link leads, and by the links of a long post', () => {
  const story = page('https://www.example.com/news/1?utm_source=feed');
  const short = { expanded_url: 'https://bit.example/x', unwound_url: 'https://example.com/news/1' };
  const long = {
    note_tweet: { text: longText, ...linking({ expanded_url: 'http://m.example.com/news/1/' }) },
  };
  for (const data of [linking(short), long]) {
    expect(reasonOf(story, xPost(id, data))).toBe('same_url');
    expect(reasonOf(xPost(id, data), story)).toBe('same_page');
  }
  expect(reasonOf(story, page('https://example.com/news/1'))).toBe('same_page');
  expect(reasonOf(story, page('https://example.com/news/2'))).toBeNull();
});

test('changes of a home page are separate stories, but one change is one item', () => {
  const changed = (text: string) =>
    page('https://example.com/', { diff: { chunks: [{ typ: 'ins', text }] } });
  expect(reasonOf(changed('one'), changed('two'))).toBeNull();
  expect(reasonOf(changed('one'), changed('one'))).toBe('same_page');
});

test('copies of a text are found on every platform, but pages also need the same title', () => {
  const [post, skeet] = [
    xPost(id, { text: `${longText} https://t.co/1` }),
    blueskyPost('3ltest2222222', { text: longText }),
  ];
  expect(reasonOf(post, skeet)).toBe('copy');
  const titled = (n: number, title: string) =>
    page(`https://example.com/${n}`, { title, diff: { chunks: [{ typ: 'ins', text: longText }] } });
  expect(reasonOf(titled(1, 'One'), titled(2, 'One'))).toBe('copy');
  expect(reasonOf(titled(1, 'One'), titled(2, 'Two'))).toBeNull();
});

test.each([
  [
    'a quote',
    { embed: { record: { uri: 'at://did:plc:author/app.bsky.feed.post/3lposted22222' } } },
    'quote',
  ],
  [
    'a quote with a picture',
    { embed: { record: { record: { uri: 'at://did:plc:author/app.bsky.feed.post/3lposted22222' } } } },
    'quote',
  ],
  [
    'a reply',
    {
      reply: {
        root: { uri: 'at://did:plc:a/app.bsky.feed.post/3lroot2222222' },
        parent: { uri: 'at://did:plc:author/app.bsky.feed.post/3lposted22222' },
      },
    },
    'reply',
  ],
  [
    'a later reply',
    {
      reply: {
        root: { uri: 'at://did:plc:author/app.bsky.feed.post/3lposted22222' },
        parent: { uri: 'at://did:plc:a/app.bsky.feed.post/3lother222222' },
      },
    },
    'conversation',
  ],
  [
    'a card',
    { embed: { external: { uri: 'https://bsky.app/profile/author.example/post/3lposted22222' } } },
    'same_url',
  ],
  [
    'a link in the text',
    { facets: [{ features: [{ uri: 'https://bsky.app/profile/did:plc:author/post/3lposted22222' }] }] },
    'same_url',
  ],
  [
    'a quoted list',
    { embed: { record: { uri: 'at://did:plc:author/app.bsky.graph.list/3lposted22222' } } },
    null,
  ],
  ['another post', {}, null],
] as const)('%s of Bluesky belongs to the story of the post', (_, record, because) => {
  expect(reasonOf(blueskyPost('3lposted22222'), blueskyPost('3lsecond22222', record))).toBe(because);
});

test('a key of a post that is no time is the same post only with the same author', () => {
  expect(reasonOf(blueskyPost('self', {}, 'did:plc:a'), blueskyPost('self', {}, 'did:plc:b'))).toBeNull();
});

test('an item has few keys, and the ones that are certain', () => {
  const referenced_tweets = Array.from({ length: 20 }, (_, n) => ({ type: 'quoted', id: `${n + 1}` }));
  const many = xPost(other, { referenced_tweets: [{ type: 'replied_to', id }, ...referenced_tweets] });
  expect(many.keys).toHaveLength(keysMax);
  expect(reasonOf(xPost(id), many)).toBe('reply');
  expect(new Set(many.keys.map(({ key }) => key)).size).toBe(keysMax);
});

test('a list of links does not merge what it links to', () => {
  const urls = Array.from({ length: linksMax + 1 }, (_, n) => ({ expanded_url: `https://example.com/${n}` }));
  expect(reasonOf(page('https://example.com/0'), xPost(id, linking(...urls)))).toBeNull();
  expect(
    reasonOf(page('https://example.com/0'), xPost(id, linking(...urls.slice(1), ...urls.slice(1)))),
  ).toBeNull();
  expect(
    reasonOf(page('https://example.com/1'), xPost(id, linking(...urls.slice(1), ...urls.slice(1)))),
  ).toBe('same_url');
});

test.each([
  'mailto:a@example.com',
  'javascript:alert(1)',
  'not an address',
  '',
  `https://example.com/${'a'.repeat(2_000)}`,
])('%s is no link', (url) => {
  expect(xPost(id, linking({ expanded_url: url })).keys).toEqual(xPost(id).keys);
});

test('the time is that of the item, on its day', () => {
  expect(page('https://example.com/1', { publish_time: '2020-01-01T00:00:00' }).atMs).toBe(
    Date.parse('2026-11-14T10:00:00Z'),
  );
  expect(xPost(id, { created_at: '2020-01-01T22:46:00.000Z' }).atMs).toBe(Date.parse('2025-11-14'));
});
