import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { askLucene, indexedPage } from '../firehose/lucene.ts';
import { createRandom, randomPage, randomRule } from '../firehose/random.ts';

/**
 * Writes agreed.json anew: what Lucene says of 100,000 pairs of rule and page, for machines without Lucene.
 * Usage: node packages/query/test/lucene/keep-agreed.ts
 */
const random = createRandom(2026);
const pages = Array.from({ length: 50 }, () => randomPage(random));
const rules = [...new Set(Array.from({ length: 2_100 }, () => randomRule(random)))];
const answers = askLucene([
  ...pages.map((page) => ({ document: indexedPage(page) })),
  ...rules.map((query) => ({ query })),
]);
const verdicts = Object.fromEntries(
  rules.map((rule, index) => {
    const answer = answers[index] ?? '';
    return [rule, answer.startsWith('error') ? 'error' : answer];
  }),
);
const file = path.join(import.meta.dirname, 'agreed.json');
writeFileSync(file, `${JSON.stringify({ pages, verdicts }, null, 2)}\n`);
process.stdout.write(`${rules.length * pages.length} pairs kept\n`);
