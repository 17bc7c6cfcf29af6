import { readFileSync } from 'node:fs';
import path from 'node:path';
import { testNightly } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import type { Node } from '../../src/ast.ts';
import { withBudget } from '../../src/budget.ts';
import { createPageMatcher } from '../../src/firehose/evaluate.ts';
import { firehoseLanguage } from '../../src/firehose/language.ts';
import { tokenize } from '../../src/firehose/tokenize.ts';
import { compileRegex } from '../../src/pattern.ts';
import { askLucene, findMissingForLucene, indexedPage } from './lucene.ts';
import { createRandom, type Page, type Random, randomPage, randomRegex, randomRule } from './random.ts';

/** New pairs every night. The short run checks the kept fixtures, which need no Lucene. */
const seed = Date.now() % 1_000_000;
/** Each rule is compared on 60 pages, each expression on 60 texts. */
const rulesWanted = 2_100;
const regexesWanted = 4_000;
const textsWanted = 10_000;

function testWithLucene(name: string, run: () => Promise<void>): void {
  testNightly(name, { timeout: 120_000 }, async () => {
    expect(findMissingForLucene()).toBeNull();
    await run();
  });
}

/** One 0 or 1 per page, or `error` for a rule that cannot be read. */
function ourVerdicts(rule: string, pages: readonly ((root: Node) => boolean)[]): string {
  const { root, diagnostics } = firehoseLanguage.parse(rule);
  if (diagnostics.some(({ severity }) => severity === 'error')) return 'error';
  return pages.map((matches) => (root !== null && matches(root) ? '1' : '0')).join('');
}

/** Rules and pages on which Lucene 4.10 and this package were seen to agree. */
interface Fixtures {
  readonly pages: readonly Page[];
  readonly verdicts: Readonly<Record<string, string>>;
}

describe('the verdicts of Lucene', () => {
  test('are ours on the kept fixtures', { timeout: 60_000 }, () => {
    const file = path.join(import.meta.dirname, '../lucene/agreed.json');
    const fixtures: Fixtures = JSON.parse(readFileSync(file, 'utf8'));
    const rules = Object.keys(fixtures.verdicts);
    expect(rules.length).toBeGreaterThan(1000);
    const pages = fixtures.pages.map(createPageMatcher);
    const ours = Object.fromEntries(rules.map((rule) => [rule, ourVerdicts(rule, pages)]));
    expect(ours).toEqual(fixtures.verdicts);
  });

  testWithLucene('are ours on random pairs', async () => {
    const random = createRandom(seed);
    const pages = Array.from({ length: 60 }, () => randomPage(random));
    const rules = Array.from({ length: rulesWanted }, () => randomRule(random));
    const answers = askLucene([
      ...pages.map((page) => ({ document: indexedPage(page) })),
      ...rules.map((query) => ({ query })),
    ]).map((answer) => (answer.startsWith('error') ? 'error' : answer));
    const read = answers.filter((answer) => answer !== 'error').length;
    const hits = answers.join('').replaceAll(/[^1]/g, '').length;
    expect(read).toBeGreaterThan(0.8 * rulesWanted);
    expect(hits).toBeGreaterThan(5 * rulesWanted);
    const matchers = pages.map(createPageMatcher);
    const differing = rules.filter((rule, index) => ourVerdicts(rule, matchers) !== answers[index]);
    expect(differing, `seed ${seed}`).toEqual([]);
  });

  testWithLucene('are ours on pairs of regular expression and text', async () => {
    const random = createRandom(seed);
    const texts = Array.from({ length: 60 }, () => shortText(random));
    const regexes = Array.from({ length: regexesWanted }, () => randomRegex(random)).filter(
      (regex) => !repeatsNothing(regex),
    );
    const answers = askLucene([
      ...texts.map((text) => ({ document: { url: [text] } })),
      ...regexes.map((regex) => ({ query: `url:/${regex}/` })),
    ]).map((answer) => (answer.startsWith('error') ? 'error' : answer));
    const ours = regexes.map((regex) => verdictsOf(regex, texts));
    const differing = regexes.filter((_, index) => !agree(ours[index] ?? '', answers[index] ?? ''));
    expect(answers.join('')).toContain('1');
    expect(regexes.length).toBeGreaterThan(0.42 * regexesWanted);
    expect(ours.join('').replaceAll(/[^?]/g, '').length).toBeLessThan(0.25 * regexesWanted);
    expect(differing, `seed ${seed}`).toEqual([]);
  });

  testWithLucene('find the same words in texts of many scripts', async () => {
    const random = createRandom(seed);
    const texts = Array.from({ length: textsWanted }, () => scriptText(random)).filter(
      (text) => !hebrewQuote.test(text),
    );
    const answers = askLucene(texts.map((text) => ({ text })));
    const differing = texts.filter((text, index) => {
      const ours = tokenize(text).map(({ start, end, term }) => [start, end, term]);
      return JSON.stringify(ours) !== JSON.stringify(JSON.parse(answers[index] ?? '[]'));
    });
    expect(differing, `seed ${seed}`).toEqual([]);
  });
});

/** One 0 or 1 per text, `?` where our budget does not suffice to decide, or `error` for an expression that cannot be read. */
function verdictsOf(regex: string, texts: readonly string[]): string {
  const { pattern } = compileRegex(regex);
  if (pattern === null) return 'error';
  const decided = (text: string) =>
    withBudget(
      () => pattern.test(text),
      () => null,
    );
  const verdictOn = (text: string) => {
    const verdict = decided(text);
    if (verdict === null) return '?';
    return verdict ? '1' : '0';
  };
  return texts.map(verdictOn).join('');
}

const agree = (ours: string, lucenes: string) =>
  ours.length === lucenes.length &&
  Array.from(ours).every((one, index) => one === '?' || one === lucenes[index]);

/**
 * Lucene 4.10 takes any repetition of an expression without words for one without words; we say the empty text. A
 * complement of everything has no words, and everything can itself be written with a complement.
 */
function repeatsNothing(regex: string): boolean {
  return /[#&]|~.*[@|.~]|[@|.].*~/.test(regex) && /[*{+?]/.test(regex);
}

const characters = Array.from(
  'aZ09 _.,:;\'’"-/@&·\u0301\u200d\u200b\u00ad' +
    '東京ひらカタカナー한글ไทยລາשלוםعربي٠١٫٬ёЖßİΣςａ１＿．：😀𠀀々〆ゝ№™²ªº',
);

/** Which marks a Hebrew word keeps depends, in that version, on the alphabet of the letter before. */
const hebrewQuote = /[\u05d0-\u05ea]\p{M}*["'’]/u;

function shortText(random: Random): string {
  return Array.from({ length: 1 + random.below(6) }, () => random.pick(Array.from('abc01-&~'))).join('');
}

function scriptText(random: Random): string {
  return Array.from({ length: 1 + random.below(8) }, () => random.pick(characters)).join('');
}
