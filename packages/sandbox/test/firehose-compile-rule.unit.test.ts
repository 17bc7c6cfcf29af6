import { languages } from '@earshot/query';
import { expect, test } from 'vitest';
import { compileFirehoseRule } from '../src/firehose/compile-rule.ts';
import { printCompiled } from '../src/firehose/compiled-query.ts';
import { buildPage } from '../src/firehose/page.ts';

const fullPage = {
  url: 'https://www.jobs.news.example/press/a-1',
  title: 'Heat pumps overtake gas',
  publish_time: '2026-09-01T08:00:00',
  language: 'de',
  page_category: ['/News', '/News/Politics'],
  page_types: ['/Article'],
  domain_rating: 60,
  chunks: [
    { typ: 'ins', text: 'Sales of solar and wind power rose. State by their art.' },
    { typ: 'ins', text: '東京' },
    { typ: 'del', text: 'Coal leads' },
  ],
  anchors: { added: ['read the study'], removed: ['old report'] },
};

function build(page: object) {
  const built = buildPage({ ...fullPage, ...page }, Date.parse('2026-09-01T12:00:00Z'));
  if (typeof built === 'string') throw new Error(built);
  return built;
}

function matches(rule: string, change: object = {}): boolean {
  const compiled = compileFirehoseRule(rule);
  if (!compiled.ok) throw new Error(compiled.details.join('; '));
  const page = build(change);
  const isHit = compiled.matcher.test(page);
  const hasKey = compiled.matcher.anyOfKeys?.some((key) => page.keys.has(key)) ?? true;
  // The index must never hide a rule that matches.
  if (isHit && !hasKey) throw new Error(`the index would hide ${rule}`);
  return isHit;
}

test.each([
  ['solar', true],
  ['coal', false],
  ['removed:coal', true],
  ['"solar and wind"', true],
  ['"wind solar"', false],
  ['"wind solar"~4', true],
  ['"state of the art"', true],
  ['title:"heat pumps"', true],
  ['title:"pumps heat"', false],
  ['title:(gas OR coal)', true],
  ['added_anchor:study', true],
  ['added_anchor:report', false],
  ['removed_anchor:"old report"', true],
  ['solar AND wind', true],
  ['solar AND hydro', false],
  ['hydro OR wind', true],
  ['hydro wind', true],
  ['solar OR wind AND coal', false],
  ['hydro OR wind AND power', true],
  ['solar AND hydro OR wind', false],
  ['solar AND NOT wind', false],
  ['solar AND NOT hydro', true],
  ['solar OR NOT wind', false],
  ['solar -hydro', true],
  ['+hydro solar', false],
  ['solar AND domain:"news.example"', true],
  ['solar AND domain:www.jobs.news.example', true],
  ['solar AND domain:*.news.example', true],
  ['solar AND domain:/.*\\.example/', true],
  ['solar AND domain:"other.example"', false],
  ['solar AND url:*\\/press\\/*', true],
  ['solar AND url:*\\/jobs\\/*', false],
  ['solar AND url:/.*\\/a-[0-9]/', true],
  ['solar AND url:/.*\\/a-[2-9]/', false],
  ['solar AND language:"de"', true],
  ['solar AND language:"en"', false],
  ['solar AND page_category:"/News/Politics"', true],
  ['solar AND page_category:"/Finance"', false],
  ['solar AND page_type:"/Article"', true],
  ['solar AND page_type:"/Listing/Job"', false],
  ['solar AND dr:[60 TO 100]', true],
  ['solar AND dr:{60 TO 100]', false],
  ['solar AND publish_time:[2026-09-01 TO 2026-09-02}', true],
  ['solar AND publish_time:[2026-08-01 TO 2026-09-01]', false],
  ['solar AND recent:5h', true],
  ['solar AND recent:3h', false],
  ['東京', true],
  ['title:over*', true],
  ['title:p?mps', true],
  ['title:p?mp', false],
  ['title:pamps~1', true],
  ['title:"10-K"', false],
  [
    '(added:"solar" OR title:"solar") AND language:"de" AND NOT (domain:"spam.example" OR url:*\\/jobs\\/*)',
    true,
  ],
])('the rule %s matches the page: %s', (rule, expected) => {
  expect(matches(rule)).toBe(expected);
});

test('recent needs a time of publication', () => {
  expect(matches('solar AND recent:1mo')).toBe(true);
  expect(matches('solar AND recent:1mo', { publish_time: null })).toBe(false);
});

test('a domain is found however the URL spells it', () => {
  expect(matches('domain:"xn--bcherei-n2a.de"', { url: 'https://BÜCHEREI.de/a' })).toBe(true);
});

test.each(['NOT solar', 'NOT hydro', 'solar AND (NOT hydro AND NOT coal)'])(
  'a level of exclusions only matches nothing, and is refused for it: %s',
  (rule) => {
    const { root } = languages.firehose.parse(rule);
    expect(root !== null && build({}).matches(root)).toBe(false);
    expect(compileFirehoseRule(rule)).toMatchObject({
      ok: false,
      details: [expect.stringContaining('matches nothing')],
    });
  },
);

test.each([
  ['solar AND wind', '+added:solar +added:wind'],
  ['solar wind', 'added:solar added:wind'],
  ['hydro OR wind AND coal', '+added:wind +added:coal'],
  ['solar AND NOT (a1 OR b1)', '+added:solar -(added:a1 added:b1)'],
  ['title:("heat pump"~3 OR gas) AND recent:24h', '+(title:"heat pump"~3 title:gas) +recent:1d'],
  ['title:a1 AND url:*\\/b\\/* AND dr:[60 TO *}', '+title:a1 +url:*/b/* +dr:[60 TO *]'],
  ['title:sol* AND domain:/a.*/ AND gas~1', '+title:sol* +domain:/a.*/ +added:gas~1'],
])('the rule %s is compiled to %s', (rule, compiled) => {
  const { root, canonical } = languages.firehose.validate(rule);
  expect(canonical).not.toBeNull();
  expect(root && printCompiled(root)).toBe(compiled);
});
