import { expect, test } from 'vitest';
import { buildPage } from '../src/firehose/page.ts';
import { compileFirehoseRule } from '../src/match/firehose-matcher.ts';

const NOW_MS = Date.parse('2026-09-01T12:00:00Z');
const PAGE = {
  url: 'https://www.jobs.news.example/press/a-1',
  title: 'Heat pumps overtake gas',
  publish_time: '2026-09-01T08:00:00',
  language: 'de',
  page_category: ['/News', '/News/Politics'],
  page_types: ['/Article'],
  domain_rating: 60,
  chunks: [
    { typ: 'ins', text: 'Sales of solar and wind power rose. 東京' },
    { typ: 'del', text: 'Coal leads' },
  ],
  anchors: { added: ['read the study'], removed: [] },
};

function matches(rule: string): boolean {
  const compiled = compileFirehoseRule(rule);
  if (!compiled.ok) throw new Error(compiled.details.join('; '));
  const page = buildPage(PAGE, NOW_MS);
  if (typeof page === 'string') throw new Error(page);
  const isHit = compiled.matcher.test(page.document);
  const hasKey = compiled.matcher.anyOfKeys?.some((key) => page.document.keys.has(key)) ?? true;
  // The index must never hide a rule that matches.
  if (isHit && !hasKey) throw new Error(`the index would hide ${rule}`);
  return isHit;
}

test.each([
  ['solar', true],
  ['coal', false],
  ['removed:coal', true],
  ['title:"heat pumps"', true],
  ['title:"pumps heat"', false],
  ['title:(gas OR coal)', true],
  ['added_anchor:study', true],
  ['solar AND wind', true],
  ['solar AND hydro', false],
  ['hydro OR wind', true],
  ['hydro wind', true],
  ['hydro OR wind AND coal', false],
  ['solar AND hydro OR wind', false],
  ['solar AND NOT wind', false],
  ['solar AND NOT hydro', true],
  ['solar -hydro', true],
  ['+hydro solar', false],
  ['domain:"news.example"', true],
  ['domain:news.example', true],
  ['domain:*.news.example', true],
  ['domain:"other.example"', false],
  ['url:*\\/press\\/*', true],
  ['url:*\\/jobs\\/*', false],
  ['language:"de"', true],
  ['language:"DE"', false],
  ['page_category:"/News/Politics"', true],
  ['page_type:"/Article"', true],
  ['dr:[60 TO 100]', true],
  ['dr:{60 TO 100]', false],
  ['dr:[* TO 60]', true],
  ['publish_time:[2026-09-01 TO 2026-09-02}', true],
  ['publish_time:[2026-08-01 TO 2026-09-01]', false],
  ['solar AND recent:5h', true],
  ['solar AND recent:3h', false],
  ['東京', true],
  ['title:over*', true],
  ['title:10-K', false],
  [
    '(added:"solar" OR title:"solar") AND language:"de" AND NOT (domain:"spam.example" OR url:*\\/jobs\\/*)',
    true,
  ],
])('the rule %s matches the page: %s', (rule, expected) => {
  expect(matches(rule)).toBe(expected);
});

test.each([
  ['', 'The query is empty'],
  ['solar AND', 'Expected a term at character 10'],
  ['AND solar', 'Unexpected "AND" at character 5'],
  ['(solar', 'Expected ")" at character 7'],
  ['solar)', 'Unexpected ")" at character 6'],
  ['"solar', 'Expected a term at character 1'],
  ['()', 'Expected a term at character 2'],
  ['lang:en', 'Unknown field "lang"'],
  ['NOT solar', 'A query or group with only NOT clauses matches nothing'],
  ['x AND (NOT a AND NOT b)', 'A query or group with only NOT clauses matches nothing'],
  ['recent:soon', 'recent: takes a span such as 24h, 7d or 1mo'],
  ['dr:60', 'dr: takes a range such as [60 TO 100]'],
  ['title:""', 'A phrase must not be empty'],
  ['*:*', 'Expected a term at character 2'],
])('the rule %s is refused: %s', (rule, detail) => {
  const compiled = compileFirehoseRule(rule);
  expect(compiled.ok ? [] : compiled.details).toContain(detail);
});
