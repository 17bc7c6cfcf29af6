import { describe, expect, test } from 'vitest';
import type { Node } from '../src/ast.ts';
import { firehoseLanguage } from '../src/firehose/language.ts';
import type { Explanation, Language, Verdict } from '../src/language.ts';
import { xLanguage } from '../src/x/language.ts';
import { createRandom } from './firehose/random.ts';
import { firehoseSeeds, xSeeds } from './fuzz/expensive-seeds.ts';

/** An evaluation is meant to take 5 ms at most; this is for machines that are slow, busy or cold. */
const cpuMsMax = 50;

const nullableChain = `/${'a?'.repeat(300)}x/`;

/** One word without a pattern in it, so that a DFA meets a new state at almost every character. */
const random = createRandom(1);
const irregular = Array.from({ length: 15_000 }, () => random.pick(['a', 'b'])).join('');

function pageOf(text: string): unknown {
  return { document: { url: 'https://a.example/1', title: 'w', diff: { chunks: [{ typ: 'ins', text }] } } };
}

function postOf(text: string): unknown {
  return { data: { id: '1', text } };
}

/** The best of three runs, each with its own tree, and the result of the last run. */
function costOf(language: Language, rule: string, item: unknown) {
  let cpuMs = Number.POSITIVE_INFINITY;
  let verdict: Verdict | null = null;
  let explanation: Explanation | null = null;
  for (let run = 0; run < 3; run += 1) {
    const { root } = language.parse(rule);
    if (root === null) throw new Error(`not a rule: ${rule.slice(0, 50)}`);
    const before = process.threadCpuUsage();
    verdict = language.evaluate(root, item);
    explanation = language.explain(root, item);
    const { user, system } = process.threadCpuUsage(before);
    cpuMs = Math.min(cpuMs, (user + system) / 1000);
  }
  if (verdict === null || explanation === null) throw new Error('nothing was evaluated');
  return { cpuMs, verdict, explanation };
}

describe('an evaluation that would take seconds', () => {
  test.each([
    [
      'a chain of nullable parts on ninety words',
      `added:${nullableChain}`,
      pageOf('aaaaaaaaaaaa '.repeat(90)),
    ],
    [
      'sixty patterns with exponentially many states',
      Array.from({ length: 60 }, (_, index) => `added:/.*a.{${40 + index}}c/`).join(' OR '),
      pageOf(irregular),
    ],
    ['proximity among repeated words', `added:"${'a b '.repeat(950)}"~9999`, pageOf('b a '.repeat(3700))],
    ['a wildcard', `url:*${'a'.repeat(3800)}b`, { document: { url: 'a'.repeat(12_000) } }],
    ['a page of 400 KB', 'added:w OR added:"v w"', pageOf('氷'.repeat(130_000))],
    [
      'a host of many labels',
      'domain:b.example',
      { document: { url: `https://${'a.'.repeat(100_000)}example/` } },
    ],
    [
      'a list of many categories',
      'page_category:"/X"',
      { document: { page_category: Array(100_000).fill('/Y') } },
    ],
  ])('on Firehose stops within its budget: %s', (_, rule, item) => {
    const { cpuMs, verdict } = costOf(firehoseLanguage, rule, item);
    expect(cpuMs).toBeLessThan(cpuMsMax);
    expect(verdict.state).not.toBe('match');
  });

  test('is not necessary on Firehose for a fuzzy word as long as the rule', () => {
    const page = { document: { url: `${'a'.repeat(3898)}b` } };
    const { cpuMs, verdict } = costOf(firehoseLanguage, `url:${'a'.repeat(3900)}~2`, page);
    expect(cpuMs).toBeLessThan(cpuMsMax);
    expect(verdict.state).toBe('match');
  });

  test.each([
    ['proximity among repeated words', `"${'a b '.repeat(250)}"~999`, postOf('b a '.repeat(20_000))],
    [
      'a word in a run of another script',
      Array.from({ length: 100 }, () => 'ice').join(' OR '),
      postOf('icé氷'.repeat(20_000)),
    ],
    [
      'hundreds of tags against thousands',
      Array.from({ length: 100 }, (_, index) => `#t${index}`).join(' OR '),
      {
        data: {
          id: '1',
          text: 'x',
          entities: { hashtags: Array.from({ length: 10_000 }, () => ({ tag: 'É'.repeat(20) })) },
        },
      },
    ],
    [
      'accounts among thousands of users',
      Array.from({ length: 100 }, (_, index) => `from:u${index}`).join(' OR '),
      {
        data: { id: '1', text: 'x', author_id: '9' },
        includes: { users: Array.from({ length: 10_000 }, () => ({ id: '8' })) },
      },
    ],
  ])('on X stops within its budget: %s', (_, rule, item) => {
    const { cpuMs, verdict } = costOf(xLanguage, rule, item);
    expect(cpuMs).toBeLessThan(cpuMsMax);
    expect(verdict.state).not.toBe('match');
  });

  test('reports the limit, and still decides the other clauses', () => {
    const { explanation } = costOf(
      firehoseLanguage,
      `added:${nullableChain} OR added:w`,
      pageOf(`${'aaaaaaaaaaaa '.repeat(90)} w`),
    );
    expect(explanation.state).toBe('match');
    expect(explanation.witness).toEqual([expect.objectContaining({ value: 'w' })]);
    expect(explanation.undecided).toEqual([
      expect.objectContaining({ why: 'the pattern is too complex to be decided here' }),
    ]);
    const long = costOf(firehoseLanguage, 'added:w', pageOf('v '.repeat(200_000))).explanation;
    expect(long.state).toBe('unknown');
    expect(long.undecided).toEqual([expect.objectContaining({ why: 'deciding this would take too long' })]);
    const elsewhere = costOf(firehoseLanguage, 'added:w OR title:w', pageOf('v '.repeat(200_000))).verdict;
    expect(elsewhere.state).toBe('match');
  });

  test('does not retry a pattern that was too complex', () => {
    const stateOf = (root: Node | null, text: string) =>
      root === null ? null : firehoseLanguage.evaluate(root, pageOf(text)).state;
    const { root } = firehoseLanguage.parse('added:/(.*a.{40}c|x)/');
    expect(stateOf(root, 'x')).toBe('match');
    expect(stateOf(root, irregular)).toBe('unknown');
    expect(stateOf(root, 'x')).toBe('unknown');
  });

  test('gets an eighth of the budget if its rule keeps exceeding it, and still decides ordinary items', () => {
    const { root } = firehoseLanguage.parse('added:w');
    if (root === null) throw new Error('not a rule');
    const long = pageOf('v '.repeat(4000));
    const tooLong = pageOf('v '.repeat(200_000));
    const ordinary = pageOf(`${'v '.repeat(300)} w`);
    const isDecided = (page: unknown) =>
      firehoseLanguage.explain(root, page).undecided[0]?.why === 'not in the delivered excerpt of the change';
    expect(isDecided(long)).toBe(true);
    expect(isDecided(tooLong)).toBe(false);
    expect(isDecided(long)).toBe(false);
    expect(firehoseLanguage.evaluate(root, ordinary).state).toBe('match');
    for (let time = 0; time < 100; time += 1) firehoseLanguage.evaluate(root, ordinary);
    expect(isDecided(long)).toBe(true);
  });

  test('frees its memory', () => {
    const rule = Array.from({ length: 60 }, (_, index) => `added:/.*a.{${40 + index}}c/`).join(' OR ');
    const { root } = firehoseLanguage.parse(rule);
    if (root === null) throw new Error('not a rule');
    const before = process.memoryUsage().heapUsed;
    for (let time = 0; time < 50; time += 1) firehoseLanguage.evaluate(root, pageOf(irregular.slice(time)));
    expect((process.memoryUsage().heapUsed - before) / 2 ** 20).toBeLessThan(150);
  });
});

test.each([
  ...firehoseSeeds.map(({ rule, item }) => [rule, firehoseLanguage, item] as const),
  ...xSeeds.map(({ rule, item }) => [rule, xLanguage, item] as const),
])('clauses of each kind and former attacks stay within the time limit: %s', (rule, language, item) => {
  expect(costOf(language, rule, item).cpuMs).toBeLessThan(cpuMsMax);
});
