import type { LeafNode, Test } from '../../ast.ts';
import { broadRule, type Weight } from '../../breadth.ts';
import { fields } from '../tables.ts';
import { isStopWord } from '../tokenize.ts';
import type { View } from './rule.ts';

const words = {
  everything:
    'Nothing here says what pages are about: a large part of the crawl matches, and each page is billed. Add words, a domain or a part of the URL.',
  oneWord:
    'Possibly very broad: one word is enough, and each page is billed. Preview the rule, or require a second word or a phrase, a site, a category or a rating, such as `AND dr:[50 TO *]`.',
} as const;

export function breadth(view: View): void {
  if (view.root === null) return;
  const found = broadRule(view.root, weightOf, words);
  // An unreadable clause may have been meant to narrow the rule.
  const isUnread = view.hasSyntaxErrors || view.clauses.some(({ field }) => !isKnown(field));
  if (found !== null && !(isUnread && found.severity === 'suspicious')) view.report(found);
}

function isKnown(field: string): boolean {
  return field === '*' || fields.has(field);
}

function weightOf({ field, test }: LeafNode): Weight {
  if (isAnything(test)) return 0;
  const type = fields.get(field)?.type;
  if (type === undefined) return 0;
  if (field === 'domain') return domainWeight(test);
  if (field === 'url') return addressWeight(test);
  if (type === 'text') return textWeight(test);
  if (field === 'dr') return test.type === 'range' && Number(test.low ?? 0) >= ratingMin ? 1 : 0;
  return field === 'page_category' || field === 'page_type' ? 1 : 0;
}

/** Most sites are rated lower. */
const ratingMin = 30;

function textWeight(test: Test): Weight {
  if (test.type === 'term') return isStopWord(test.value) ? 0 : 2;
  if (test.type === 'prefix' || test.type === 'wildcard') return hasFixedLetters(patternOf(test)) ? 2 : 0;
  if (test.type !== 'phrase') return 2;
  return test.words.filter((word) => !isStopWord(word)).length > 1 ? 3 : 2;
}

/** A whole address, or a pattern with a part that few addresses have. */
function addressWeight(test: Test): Weight {
  if (test.type === 'term' || test.type === 'fuzzy') return 3;
  const parts = patternOf(test).split(/[^\p{L}\p{N}]+/u);
  return parts.some((part) => part.length >= partMin && !commonParts.has(part) && !/^\d+$/.test(part))
    ? 3
    : 0;
}

/** `*.de` and `*.co.uk` are most of a country. */
function domainWeight(test: Test): Weight {
  const weight = addressWeight(test);
  if (weight > 0 || (test.type !== 'prefix' && test.type !== 'wildcard')) return weight;
  const labels = patternOf(test).split('.').slice(0, -1);
  return labels.some((label) => /^[\w-]{2,}$/.test(label) && !secondLevels.has(label)) ? 3 : 0;
}

function patternOf(test: Test): string {
  if (test.type === 'prefix') return test.value;
  if (test.type === 'wildcard') return test.pattern;
  return test.type === 'regex' ? test.source.replaceAll(/\\([dws])|\[[^\]]*\]/g, ' ') : '';
}

function hasFixedLetters(pattern: string): boolean {
  return pattern.replaceAll(/[^\p{L}\p{N}]/gu, '').length >= lettersMin;
}

const partMin = 4;
const lettersMin = 3;

/** Parts of very many addresses. */
const commonParts: ReadonlySet<string> = new Set(
  (
    'http https html index blog blogs news article articles post posts page pages category tags product products ' +
    'about home content'
  ).split(' '),
);

const secondLevels: ReadonlySet<string> = new Set([
  'www',
  'co',
  'com',
  'org',
  'net',
  'gov',
  'ac',
  'edu',
  'or',
  'ne',
]);

/** `*`, `?*`, `.*`, `[* TO *]`. */
function isAnything(test: Test): boolean {
  if (test.type === 'wildcard') return /^[*?]+$/.test(test.pattern);
  if (test.type === 'regex') return /^(?:\.[*+]?|\(|\))*$/.test(test.source);
  return test.type === 'range' && test.low === null && test.high === null;
}
