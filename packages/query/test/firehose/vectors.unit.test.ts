import { describe, expect, test } from 'vitest';
import { firehoseLanguage } from '../../src/firehose/language.ts';
import { readRule } from '../../src/firehose/parse.ts';
import type { Clause, Group } from '../../src/firehose/surface.ts';

/** The clauses of a rule as Lucene would print them: + required, - prohibited, nothing for optional. */
function occurrences(rule: string): string {
  const { top } = readRule(rule);
  return top === null ? '' : groupText(top);
}

function groupText(group: Group): string {
  return group.clauses
    .filter(({ node }) => node !== null)
    .map(clauseText)
    .join(' ');
}

function clauseText(clause: Clause): string {
  const sign = { required: '+', prohibited: '-', optional: '' }[clause.occur];
  if (clause.body.type === 'group') return `${sign}(${groupText(clause.body)})`;
  return sign + leavesText(clause);
}

function leavesText({ node }: Clause): string {
  const leaves = node?.kind === 'or' ? node.children : [node];
  return leaves
    .map((leaf) => (leaf?.kind === 'leaf' ? `${leaf.field}:${JSON.stringify(leaf.test)}` : '?'))
    .join('|');
}

const term = (field: string, value: string): string => `${field}:{"type":"term","value":"${value}"}`;

/** A rule (firehose.md §12), its clauses, and the codes of its diagnostics, without hints and breadth. */
const vectors: readonly (readonly [rule: string, clauses: string | null, codes: readonly string[]])[] = [
  ['solar', term('added', 'solar'), []],
  ['solar AND wind', `+${term('added', 'solar')} +${term('added', 'wind')}`, []],
  [
    '(solar OR wind) AND NOT title:jobs',
    `+(${term('added', 'solar')} ${term('added', 'wind')}) -${term('title', 'jobs')}`,
    [],
  ],
  [
    'title:(grid AND "heat pump")',
    `(+${term('title', 'grid')} +title:{"type":"phrase","words":["heat","pump"],"slop":0})`,
    [],
  ],
  ['"heat pump"~3', 'added:{"type":"phrase","words":["heat","pump"],"slop":3}', []],
  ['page_category:"/Science"', term('page_category', '/Science'), []],
  ['page_category:/Science', '', ['unclosed_regex']],
  [String.raw`url:*\/press\/*`, 'url:{"type":"wildcard","pattern":"*/press/*"}', []],
  [
    String.raw`url:/.*\/20[0-9]{2}\/.*/`,
    String.raw`url:{"type":"regex","source":".*\\/20[0-9]{2}\\/.*"}`,
    [],
  ],
  [
    'publish_time:[2026-05-01 TO 2026-06-01}',
    'publish_time:{"type":"range","low":"2026-05-01","high":"2026-06-01","includeLow":true,"includeHigh":false}',
    [],
  ],
  ['dr:[60 TO *]', 'dr:{"type":"range","low":"60","high":null,"includeLow":true,"includeHigh":true}', []],
  ['grid~1', 'added:{"type":"fuzzy","value":"grid","distance":1}', ['pattern_on_text']],
  ['grid~', 'added:{"type":"fuzzy","value":"grid","distance":2}', ['pattern_on_text']],
  ['grid~1.5', null, ['pattern_on_text', 'bad_fuzzy']],
  ['solar^4', term('added', 'solar'), ['boost']],
  ['title:10-K', `${term('title', '10')}|${term('title', 'k')}`, ['unquoted_tokens']],
  ['solar AND the', `+${term('added', 'solar')}`, ['ignored_clause']],
  ['title:the', term('title', 'the'), []],
  ['solar AND (recent:1d OR language:"de")', null, ['misplaced_recent']],
  ['solar AND recent:0d', null, ['bad_recent']],
  ['solar AND recent:7', null, ['bad_recent']],
  ['solar AND recent:2w', null, ['bad_recent']],
  ['AND solar', null, ['dangling_operator']],
  ['solar AND AND wind', null, ['dangling_operator']],
  ['"open', null, ['unclosed_quote']],
  ['()', null, ['empty_group']],
  ['NOT NOT wind', null, ['only_negations', 'double_modifier']],
  ['solar OR NOT wind', `${term('added', 'solar')} -${term('added', 'wind')}`, ['or_not']],
  ['language:EN', null, ['unknown_language']],
  ['category:news', null, ['unknown_field']],
  ['+solar -wind', `+${term('added', 'solar')} -${term('added', 'wind')}`, []],
  [
    'solar && wind || hydro',
    `+${term('added', 'solar')} +${term('added', 'wind')} ${term('added', 'hydro')}`,
    ['dead_clause'],
  ],
  ['added:"UI/UX"', 'added:{"type":"phrase","words":["ui","ux"],"slop":0,"written":"ui/ux"}', []],
  ['added:UI/UX', null, ['unclosed_regex']],
];

describe('the parser vectors', () => {
  test.each(vectors)('%s', (rule, clauses, codes) => {
    const { diagnostics } = firehoseLanguage.validate(rule);
    const found = diagnostics.filter(({ severity, code }) => severity !== 'hint' && code !== 'broad_rule');
    expect(found.map(({ code }) => code)).toEqual(codes);
    expect(occurrences(rule)).toBe(clauses ?? occurrences(rule));
  });
});

describe('the occurrences that AND, OR and NOT give', () => {
  test.each([
    ['solar OR wind AND hydro', 'added:"hydro" AND added:"wind"'],
    ['solar AND wind OR hydro', 'added:"solar" AND added:"wind"'],
    ['solar OR NOT wind', 'added:"solar" AND NOT added:"wind"'],
    ['solar wind', 'added:"solar" OR added:"wind"'],
    ['solar AND NOT (wind AND NOT hydro)', 'added:"solar" AND NOT (added:"wind" AND NOT added:"hydro")'],
  ])('%s means %s', (rule, meaning) => {
    expect(firehoseLanguage.validate(rule).canonical).toBe(meaning);
  });

  test.each(['NOT solar', 'hydro AND (NOT solar AND NOT wind)', '-solar -wind'])(
    '%s matches nothing',
    (rule) => {
      const { valid, diagnostics } = firehoseLanguage.validate(rule);
      expect(valid).toBe(false);
      expect(diagnostics.map(({ code }) => code)).toContain('only_negations');
    },
  );
});

const delivered = {
  tap_id: 't',
  query_ids: ['q'],
  matched_at: '2026-09-01T10:15:02Z',
  document: {
    url: 'https://www.blog.example.com/2026/09/pumps',
    title: 'Heat Pumps: the 2026 guide',
    publish_time: '2026-09-01T08:00:00',
    language: 'en',
    page_types: ['/Article', '/Article/Listicle'],
    diff: { chunks: [{ typ: 'ins', text: 'Sales of heat pumps rose; installers report long queues.' }] },
  },
};

/** What a delivered match decides (firehose.md §13.1). */
const evaluations: readonly (readonly [rule: string, state: string])[] = [
  ['title:"heat pumps"', 'match'],
  ['title:"pumps the 2026"', 'match'],
  ['added:"heat pumps rose"', 'match'],
  ['added:"gas boiler"', 'unknown'],
  ['title:guide AND NOT added:"gas boiler"', 'unknown'],
  ['language:"de" AND added:"gas boiler"', 'no_match'],
  ['domain:"example.com"', 'match'],
  ['domain:"blog.example.com"', 'match'],
  ['page_type:"/Article/Listicle"', 'match'],
  ['page_category:"/News"', 'no_match'],
  ['added_anchor:"installers"', 'unknown'],
  ['recent:24h', 'match'],
  ['recent:2h', 'unknown'],
  [String.raw`url:*\/2026\/*`, 'match'],
  ['publish_time:[2026-09-01 TO 2026-09-02}', 'match'],
  ['dr:[50 TO 100]', 'unknown'],
];

test.each(evaluations)('from a delivered match, %s is %s', (rule, state) => {
  const { root } = firehoseLanguage.parse(rule);
  expect(root && firehoseLanguage.evaluate(root, delivered).state).toBe(state);
});
