import { createRuleIndex, type Keyed } from '@earshot/query';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileFirehoseRule } from '../src/firehose/compile-rule.ts';
import { buildPage } from '../src/firehose/page.ts';
import type { Compiled } from '../src/match/compiled.ts';
import { compileXRule } from '../src/x/compile-rule.ts';
import { buildPost } from '../src/x/post.ts';

/** The index against the obviously correct way: try every rule. Returns how many matched. */
function expectIndexToAgree<Document extends Keyed>(
  rules: string[],
  document: Document,
  compile: (rule: string) => Compiled<Document>,
): number {
  const index = createRuleIndex<string, Document>();
  const expected: string[] = [];
  for (const rule of new Set(rules)) {
    const compiled = compile(rule);
    if (!compiled.ok) continue;
    index.add(rule, compiled.matcher);
    if (compiled.matcher.test(document)) expected.push(rule);
  }
  expect(new Set(index.matching(document))).toEqual(new Set(expected));
  return expected.length;
}

/** Letters that become other letters, words of two scripts, escapes, marks inside words, stop words. */
const word = fc.constantFrom(
  ..."ice Ice İce ſnow snow lake glacier Kite kite 氷 ice氷河 café cafe\u0301 we're 3.5 a_b the their 🚀".split(
    ' ',
  ),
);
const gap = fc.constantFrom(' ', ' ', ' ', '-', ', ', '&amp;', '\n', '');
const text = fc.array(fc.tuple(word, gap), { maxLength: 6 }).map((pieces) => pieces.flat().join(''));
const phrase = fc
  .tuple(word, gap, word, fc.constantFrom('', '', '~2'))
  .map(([one, between, other, slop]) => `"${one}${between}${other}"${slop}`);

/** Clauses joined and grouped at random; many are refused, enough are not. */
const rulesOf = (leaf: fc.Arbitrary<string>, joints: string[]) => {
  const { rule } = fc.letrec<{ rule: string }>((tie) => ({
    rule: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc
        .tuple(tie('rule'), fc.constantFrom(...joints), tie('rule'))
        .map(([left, joint, right]) => `(${left})${joint}(${right})`),
    ),
  }));
  return fc.array(rule, { minLength: 1, maxLength: 8 });
};

test('the index of X rules finds exactly the rules that match', () => {
  const leaf = fc.oneof(
    word.map((one) => `"${one}"`),
    word,
    phrase,
    word.map((one) => `-"${one}"`),
    word.map((one) => `#${one}`),
    word.map((one) => `url:"${one}"`),
    word.map((one) => `bio:"${one}"`),
    fc.constantFrom(
      'from:ada',
      'from:12',
      '@ada',
      '$ICE',
      'to:ada',
      'conversation_id:12',
      'lang:de',
      'has:hashtags',
      '-is:retweet',
      'url_contains:ak',
      'sample:50',
    ),
  );
  const post = fc.record({
    text: fc
      .tuple(text, word, fc.constantFrom('', '#', '@ada ', '$ICE ', 'https://t.example/'))
      .map(([words, last, sign]) => `${words} ${sign}${last}`),
    lang: fc.constantFrom('en', 'de'),
    conversation_id: fc.constantFrom('11', '12'),
    in_reply_to_user_id: fc.constantFrom('11', '12'),
    author: fc.record({
      id: fc.constantFrom('11', '12'),
      username: fc.constantFrom('Ada', 'bo'),
      description: text,
    }),
    referenced_tweets: fc.constantFrom([], [{ type: 'quoted', id: '7' }], [{ type: 'retweeted', id: '7' }]),
    includes: fc.record({ tweets: text.map((quoted) => [{ id: '7', text: quoted }]) }),
  });
  let matched = 0;
  fc.assert(
    fc.property(rulesOf(leaf, [' ', ' OR ', ' -']), post, (rules, input) => {
      const built = buildPost(input, { nowMs: () => 0, nextId: () => '1' });
      if (typeof built === 'string') throw new Error(built);
      matched += expectIndexToAgree(rules, built, (rule) => compileXRule(rule, { tier: 'standard' }));
    }),
    { numRuns: 500 },
  );
  expect(matched).toBeGreaterThan(100);
});

test('the index of Firehose rules finds exactly the rules that match', () => {
  const leaf = fc.oneof(
    word,
    phrase,
    word.map((one) => `title:"${one}"`),
    phrase.map((one) => `title:${one}`),
    phrase.map((one) => `added_anchor:${one}`),
    fc.constantFrom(
      'title:gl*',
      'title:/.*ce/',
      'lake~1',
      'language:"de"',
      'domain:news.example',
      'url:*a*',
      'dr:[50 TO *]',
      'recent:1h',
    ),
  );
  const page = fc.record({
    url: fc.constantFrom('https://news.example/a', 'https://www.other.example/b'),
    title: text,
    language: fc.constantFrom('en', 'de'),
    domain_rating: fc.constantFrom(40, 60),
    chunks: fc.array(text, { maxLength: 2 }).map((added) => added.map((one) => ({ typ: 'ins', text: one }))),
    anchors: text.map((added) => ({ added: [added] })),
  });
  let matched = 0;
  fc.assert(
    fc.property(rulesOf(leaf, [' ', ' OR ', ' AND ', ' AND NOT ', ' OR NOT ']), page, (rules, input) => {
      const built = buildPage(input, 0);
      if (typeof built === 'string') throw new Error(built);
      matched += expectIndexToAgree(rules, built, compileFirehoseRule);
    }),
    { numRuns: 500 },
  );
  expect(matched).toBeGreaterThan(100);
});
