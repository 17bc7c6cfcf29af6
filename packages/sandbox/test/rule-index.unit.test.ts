import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildPage } from '../src/firehose/page.ts';
import { compileFirehoseRule } from '../src/match/firehose-matcher.ts';
import type { Compile, Keyed } from '../src/match/matcher.ts';
import { createRuleIndex } from '../src/match/rule-index.ts';
import { compileXRule } from '../src/match/x-matcher.ts';
import { buildPost } from '../src/x/post.ts';

/** The index against the obviously correct way: try every rule. */
function expectIndexToAgree<Document extends Keyed>(
  rules: string[],
  document: Document,
  compile: Compile<Document>,
) {
  const index = createRuleIndex<string, Document>();
  const expected: string[] = [];
  for (const rule of new Set(rules)) {
    const compiled = compile(rule);
    if (!compiled.ok) continue;
    index.add(rule, compiled.matcher);
    if (compiled.matcher.test(document)) expected.push(rule);
  }
  expect(new Set(index.matching(document))).toEqual(new Set(expected));
}

const word = fc.constantFrom('ice', 'lake', 'glacier', 'snow', '氷');
const text = fc.array(word, { maxLength: 5 }).map((words) => words.join(' '));

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
    word,
    word.map((one) => `-${one}`),
    word.map((one) => `#${one}`),
    fc.tuple(word, word).map((pair) => `"${pair.join(' ')}"`),
    fc.constantFrom('from:ada', 'lang:de', 'has:hashtags', '-is:retweet'),
  );
  const post = fc.record({
    text: fc
      .tuple(text, word, fc.boolean())
      .map(([words, tag, hasTag]) => (hasTag ? `${words} #${tag}` : words)),
    lang: fc.constantFrom('en', 'de'),
    author: fc.record({ username: fc.constantFrom('ada', 'bo') }),
  });
  fc.assert(
    fc.property(rulesOf(leaf, [' ', ' OR ', ' -']), post, (rules, input) => {
      const built = buildPost(input, { nowMs: () => 0, nextId: () => '1' });
      if (typeof built === 'string') throw new Error(built);
      expectIndexToAgree(rules, built.document, compileXRule);
    }),
    { numRuns: 500 },
  );
});

test('the index of Firehose rules finds exactly the rules that match', () => {
  const leaf = fc.oneof(
    word,
    word.map((one) => `title:${one}`),
    fc.tuple(word, word).map((pair) => `title:"${pair.join(' ')}"`),
    fc.constantFrom('language:"de"', 'domain:news.example', 'url:*a*', 'dr:[50 TO *]', 'recent:1h'),
  );
  const page = fc.record({
    url: fc.constantFrom('https://news.example/a', 'https://other.example/b'),
    title: text,
    language: fc.constantFrom('en', 'de'),
    domain_rating: fc.constantFrom(40, 60),
    chunks: text.map((added) => [{ typ: 'ins', text: added }]),
  });
  fc.assert(
    fc.property(rulesOf(leaf, [' ', ' OR ', ' AND ', ' AND NOT ', ' OR NOT ']), page, (rules, input) => {
      const built = buildPage(input, 0);
      if (typeof built === 'string') throw new Error(built);
      expectIndexToAgree(rules, built.document, compileFirehoseRule);
    }),
    { numRuns: 500 },
  );
});
