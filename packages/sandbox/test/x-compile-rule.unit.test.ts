import { describe, expect, test } from 'vitest';
import { compileXRule } from '../src/x/compile-rule.ts';
import { buildPost } from '../src/x/post.ts';

function compile(rule: string) {
  const compiled = compileXRule(rule, { tier: 'embedding' });
  if (!compiled.ok) throw new Error(compiled.details.join('; '));
  return compiled.matcher;
}

function build(post: object, id = '1961112223334445556') {
  const built = buildPost({ text: '', ...post }, { nowMs: () => 0, nextId: () => id });
  if (typeof built === 'string') throw new Error(built);
  return built;
}

function matches(rule: string, post: object): boolean {
  const matcher = compile(rule);
  const built = build(post);
  const isHit = matcher.test(built);
  const hasKey = matcher.anyOfKeys?.some((key) => built.keys.has(key)) ?? true;
  // The index must never hide a rule that matches.
  if (isHit && !hasKey) throw new Error(`the index would hide ${rule}`);
  return isHit;
}

const quotePost = {
  text: 'look',
  referenced_tweets: [{ type: 'quoted', id: '7' }],
  includes: { tweets: [{ id: '7', text: 'a #glacier', author_id: '8' }] },
};
const retweetPost = {
  text: 'RT @bo: …',
  referenced_tweets: [{ type: 'retweeted', id: '7' }],
  includes: {
    tweets: [{ id: '7', text: 'a glacier at https://news.example/a', author_id: '8' }],
    users: [{ id: '8', username: 'Bo' }],
  },
};
const photoPost = {
  text: 'ice',
  attachments: { media_keys: ['3_1'] },
  includes: { media: [{ media_key: '3_1', type: 'photo' }] },
};

describe('a rule matches', () => {
  test.each([
    ['glacier', 'See #glacier now'],
    ['glacier OR lake ice', 'a glacier'],
    ['#fjord', 'at the #Fjord'],
    ['$ACME', 'buy $acme'],
    ['@acme_sky', 'hi @Acme_Sky!'],
    ['ice', 'the ice氷河 melts'],
    ['snow', 'ſnow, as it was printed'],
    ['"R D"', 'our R&amp;D team'],
    ['snow', 'see https://news.example/Snow'],
    ['url:"news.example"', 'see https://news.example/a'],
    ['glacier has:hashtags has:mentions has:cashtags', 'glacier #a @b $c'],
  ])('%s in “%s”', (rule, text) => {
    expect(matches(rule, { text })).toBe(true);
  });

  test.each([
    ['from:acme_sky', { author: { username: 'Acme_Sky' } }],
    ['from:90210021', { author: { username: 'acme_sky', id: '90210021' } }],
    ['ice lang:de', { text: 'ice', lang: 'de' }],
    ['ice is:verified', { text: 'ice', author: { username: 'a', verified: true } }],
    ['ice is:retweet', { text: 'ice', referenced_tweets: [{ type: 'retweeted', id: '7' }] }],
    ['ice is:reply', { text: 'ice', referenced_tweets: [{ type: 'replied_to', id: '7' }] }],
    ['ice has:images has:media', photoPost],
    ['conversation_id:7', { conversation_id: '7' }],
    ['bio:"sea ice"', { author: { username: 'a', description: 'I study sea ice.' } }],
    ['to:bo', { in_reply_to_user_id: '8', includes: { users: [{ id: '8', username: 'bo' }] } }],
    ['followers_count:10..20', { author: { username: 'a', public_metrics: { followers_count: 15 } } }],
    ['glacier retweets_of:bo', retweetPost],
    ['glacier url:"news.example" has:links', retweetPost],
    ['glacier #glacier has:hashtags is:quote', quotePost],
  ])('%s by what stands beside the text', (rule, post) => {
    expect(matches(rule, post)).toBe(true);
  });
});

test.each([
  ['glacier', 'glaciers'],
  ['#fjord', 'the fjord'],
  ['$ACME', 'acme'],
  ['ice lang:de', 'ice'],
  ['url:"news.example"', 'see https://other.example/news'],
])('the rule %s does not match “%s”', (rule, text) => {
  expect(matches(rule, { text })).toBe(false);
});

test.each(['context:47.1', 'embedding:"melting ice sheets"', 'glacier min_followers:10'])(
  'what the post does not decide does not match: %s',
  (rule) => {
    expect(matches(rule, { text: 'melting glacier ice sheets' })).toBe(false);
  },
);

test('sample selects about its share of the posts, always the same ones', () => {
  const matcher = compile('(glacier OR lake) sample:10');
  const passing = (text: string) =>
    Array.from({ length: 5_000 }, (_, index) => String(1_961_112_223_334_445_000n + BigInt(index))).filter(
      (id) => matcher.test(build({ text }, id)),
    );
  const passed = passing('glacier');
  expect(passed.length).toBeGreaterThan(400);
  expect(passed.length).toBeLessThan(600);
  expect(passing('lake')).toEqual(passed);
  expect(passing('ice')).toEqual([]);
});

test.each([
  ['glacier lang:en -is:retweet', ['glacier']],
  ['"the big glacier"', ['glacier']],
  ['(glacier OR "blue lake") from:ada', ['ada']],
  ['glacier OR #lake', ['glacier', 'lake']],
  ['glacier OR 氷河', undefined],
  ['url_contains:glacier', undefined],
])('the rule %s is evaluated on posts with one of the words %j', (rule, keys) => {
  expect(compile(rule).anyOfKeys).toEqual(keys);
});
