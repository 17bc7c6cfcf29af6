import { describe, expect, test } from 'vitest';
import { compileXRule } from '../src/match/x-matcher.ts';
import { buildPost } from '../src/x/post.ts';

function matches(rule: string, post: object): boolean {
  const compiled = compileXRule(rule);
  if (!compiled.ok) throw new Error(compiled.details.join('; '));
  const built = buildPost({ text: '', ...post }, { nowMs: () => 0, nextId: () => '1961112223334445556' });
  if (typeof built === 'string') throw new Error(built);
  const { matcher } = compiled;
  const isHit = matcher.test(built.document);
  const hasKey = matcher.anyOfKeys?.some((key) => built.document.keys.has(key)) ?? true;
  // The index must never hide a rule that matches.
  if (isHit && !hasKey) throw new Error(`the index would hide ${rule}`);
  return isHit;
}

describe('a rule matches', () => {
  test.each([
    ['glacier', 'The GLACIER melts'],
    ['glacier', 'See #glacier now'],
    ['glacier lake', 'a lake below the glacier'],
    ['"blue ice"', 'so much Blue-Ice here'],
    ['"blue ice"~3', 'ice that is blue'],
    ['glacier OR lake ice', 'a glacier'],
    ['(glacier OR lake) ice', 'ice on the lake'],
    ['glacier -lake', 'a glacier'],
    ['glacier -(lake OR ice)', 'a glacier'],
    ['#fjord', 'at the #Fjord'],
    ['$ACME', 'buy $acme'],
    ['@acme_sky', 'hi @Acme_Sky!'],
    ['café', 'un café noir'],
    ['打ち上げ', '本日の打ち上げは延期'],
    ['🚀', 'Liftoff 🚀'],
    ['snow', 'see https://news.example/Snow'],
    ['url:"news.example"', 'see https://news.example/a'],
    ['url_contains:example', 'see https://news.example/a'],
    ['glacier "and" lake', 'glacier and lake'],
    ['glacier or lake', 'glacier or lake'],
    ['glacier has:links', 'glacier https://news.example'],
    ['glacier sample:100', 'glacier'],
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
    ['ice has:images', { text: 'ice', includes: { media: [{ media_key: '3_1', type: 'photo' }] } }],
    ['conversation_id:7', { conversation_id: '7' }],
    ['bio:"sea ice"', { author: { username: 'a', description: 'I study sea ice.' } }],
    ['to:bo', { in_reply_to_user_id: '8', includes: { users: [{ id: '8', username: 'bo' }] } }],
    [
      'glacier retweets_of:bo',
      {
        text: 'RT @bo: …',
        referenced_tweets: [{ type: 'retweeted', id: '7' }],
        includes: {
          tweets: [{ id: '7', text: 'a glacier', author_id: '8' }],
          users: [{ id: '8', username: 'bo' }],
        },
      },
    ],
  ])('%s by what stands beside the text', (rule, post) => {
    expect(matches(rule, post)).toBe(true);
  });
});

test.each([
  ['glacier', 'glaciers'],
  ['cafe', 'un café'],
  ['"blue ice"', 'blue cold ice'],
  ['glacier lake', 'only a glacier'],
  ['glacier OR lake ice', 'only a lake'],
  ['glacier -lake', 'glacier lake'],
  ['#fjord', 'the fjord'],
  ['#fjord', '#fjordlight'],
  ['ice is:retweet', 'ice'],
  ['ice has:links', 'ice'],
  ['context:47.1', 'anything'],
])('the rule %s does not match “%s”', (rule, text) => {
  expect(matches(rule, { text })).toBe(false);
});

describe('a rule is refused', () => {
  test.each([
    ['', 'Rules must not be empty (at position 1)'],
    ['  ', 'Rules must not be empty (at position 3)'],
    ['(glacier', "mismatched input 'EOF' expecting ')' (at position 9)"],
    ['glacier)', "missing EOF at ')' (at position 8)"],
    ['()', "no viable alternative at input ')' (at position 2)"],
    ['"blue ice', "no viable alternative at character '\"' (at position 1)"],
    ["'blue ice'", "no viable alternative at character ''' (at position 1)"],
    ['coca-cola', "no viable alternative at character '-' (at position 5)"],
    ['from: x', "no viable alternative at character ':' (at position 5)"],
    ['OR glacier', "no viable alternative at input 'OR glacier' (at position 1)"],
    ['glacier OR', "mismatched input 'EOF' (at position 11)"],
  ])('%s: %s', (rule, detail) => {
    expect(compileXRule(rule)).toEqual({ ok: false, details: [detail] });
  });

  test.each([
    ['-glacier', 'Rules must contain a non-negation term (at position 1)'],
    ['--glacier', 'Rules must contain a non-negation term (at position 1)'],
    ['glacier OR -lake', 'Rules must contain a non-negation term (at position 1)'],
    ['glacier AND lake', 'Ambiguous use of and as a keyword'],
    ['glacier and lake', 'Ambiguous use of and as a keyword'],
    ['contains:glac', "Reference to invalid operator 'contains'"],
    ['has:media lang:is', "'has:media' cannot be used as a standalone operator (at position 1)"],
    ['glacier has:wings', "Cannot parse rule at 'has:wings'"],
    ['glacier sample:101', "Cannot parse rule at 'sample:101'"],
    ['"blue ice"~7', "Cannot parse rule at '~7'"],
  ])('%s: %s', (rule, stem) => {
    const compiled = compileXRule(rule);
    expect(compiled.ok).toBe(false);
    expect(compiled.ok ? [] : compiled.details[0]).toContain(stem);
  });
});
