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
  ['title:"heat pumps"', true],
  ['added_anchor:study', true],
  ['removed_anchor:"old report"', true],
  ['solar AND domain:*.news.example', true],
  ['solar AND url:/.*\\/a-[2-9]/', false],
  ['solar AND page_category:"/News/Politics"', true],
  ['solar AND page_type:"/Listing/Job"', false],
  ['solar AND dr:[60 TO 100]', true],
  ['solar AND recent:3h', false],
  ['東京', true],
])('the rule %s matches the page: %s', (rule, expected) => {
  expect(matches(rule)).toBe(expected);
});

test('recent: needs a publication time', () => {
  expect(matches('solar AND recent:1mo')).toBe(true);
  expect(matches('solar AND recent:1mo', { publish_time: null })).toBe(false);
});

test('finds a domain in any spelling of the URL', () => {
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
