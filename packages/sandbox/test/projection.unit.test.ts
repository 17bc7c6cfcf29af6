import { expect, test } from 'vitest';
import { buildPost } from '../src/x/post.ts';
import { createProblems } from '../src/x/problems.ts';
import { project, readProjection } from '../src/x/projection.ts';

const problems = createProblems('api.twitter.com');

function projectWith(query: string, post: object): unknown {
  const projection = readProjection(new URLSearchParams(query), problems);
  const built = buildPost(post, { nowMs: () => Date.parse('2026-08-30T09:21:07Z'), nextId: () => '77' });
  if (typeof built === 'string') throw new Error(built);
  return project(built, [], projection);
}

const fullPost = {
  text: 'with @bo',
  author: { id: '1', username: 'ada', name: 'Ada', description: 'writes' },
  in_reply_to_user_id: '2',
  attachments: { media_keys: ['3_1'] },
  geo: { place_id: 'p1' },
  referenced_tweets: [{ type: 'replied_to', id: '5' }],
  includes: {
    users: [
      { id: '1', username: 'ada', name: 'Someone else' },
      { id: '2', username: 'bo', name: 'Bo' },
      { id: '3', username: 'cy', name: 'Cy' },
    ],
    tweets: [{ id: '5', text: 'first', author_id: '3', lang: 'en' }],
    media: [{ media_key: '3_1', type: 'photo', url: 'https://img.example/1.jpg' }],
    places: [{ id: 'p1', full_name: 'Port Ellis', country: 'Nowhere' }],
  },
};

test('an expansion adds its field and the object with default fields', () => {
  expect(projectWith('expansions=author_id,attachments.media_keys,geo.place_id', fullPost)).toMatchObject({
    data: { author_id: '1', attachments: { media_keys: ['3_1'] }, geo: { place_id: 'p1' } },
    includes: {
      users: [{ id: '1', name: 'Ada', username: 'ada' }],
      media: [{ media_key: '3_1', type: 'photo' }],
      places: [{ id: 'p1', full_name: 'Port Ellis' }],
    },
  });
});

test('a user requested by two expansions is included once, and users without one are not', () => {
  const query = 'expansions=in_reply_to_user_id,entities.mentions.username&user.fields=description';
  expect(projectWith(query, fullPost)).toMatchObject({
    includes: { users: [{ id: '2', username: 'bo', name: 'Bo' }] },
  });
});

test('referenced posts come with the fields asked for, and their authors only on request', () => {
  expect(projectWith('expansions=referenced_tweets.id&tweet.fields=lang', fullPost)).toMatchObject({
    includes: { tweets: [{ id: '5', text: 'first', lang: 'en' }] },
  });
  expect(
    projectWith('expansions=referenced_tweets.id,referenced_tweets.id.author_id', fullPost),
  ).toMatchObject({
    includes: { users: [{ id: '3', username: 'cy' }] },
  });
});

test('entities are found in the text, at places that count characters', () => {
  const text = '🚀 the #fjord with @acme_sky and $ACME at https://news.example/a.';
  expect(projectWith('tweet.fields=entities', { text })).toMatchObject({
    data: {
      entities: {
        hashtags: [{ start: 6, end: 12, tag: 'fjord' }],
        mentions: [{ start: 18, end: 27, username: 'acme_sky' }],
        cashtags: [{ start: 32, end: 37, tag: 'ACME' }],
        urls: [{ start: 41, end: 63, url: 'https://news.example/a' }],
      },
    },
  });
});

test('absent fields are omitted, not sent as null', () => {
  expect(projectWith('tweet.fields=entities,geo,note_tweet', { text: 'plain', geo: null })).toEqual({
    data: { id: '77', text: 'plain', edit_history_tweet_ids: ['77'] },
    matching_rules: [],
  });
});
