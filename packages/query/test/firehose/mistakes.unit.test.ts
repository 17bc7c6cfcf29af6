import { describe, expect, test } from 'vitest';
import { applyFix } from '../../src/diagnostics.ts';
import { firehoseLanguage } from '../../src/firehose/language.ts';
import { renderDiagnostics } from '../../src/render.ts';

/** Rules as people really write them: what is found, at which text, and what the first fix makes of it. */
const mistakes: readonly (readonly [rule: string, code: string, at: string, fixed: string])[] = [
  ['solar OR wind AND storage', 'dead_clause', 'solar', '(solar OR wind) AND storage'],
  ['title:heat pump', 'implicit_operator', 'pump', 'title:"heat pump"'],
  ['"heat pump" language:"en"', 'implicit_operator', 'language:"en"', '"heat pump" AND language:"en"'],
  [
    'solar AND (NOT jobs AND NOT careers)',
    'only_negations',
    '(NOT jobs AND NOT careers)',
    'solar AND NOT (jobs OR careers)',
  ],
  ['solar OR NOT wind', 'or_not', 'OR NOT', 'solar AND NOT wind'],
  ['solar and storage', 'lowercase_operator', 'and', 'solar AND storage'],
  ['title:10-K AND language:"en"', 'unquoted_tokens', '10-K', 'title:"10-K" AND language:"en"'],
  ['solar AND page_category:/News', 'unclosed_regex', '/News', 'solar AND page_category:"/News"'],
  [
    'solar AND page_category:/News AND page_type:/Article',
    'unquoted_label',
    '/News',
    'solar AND page_category:"/News" AND page_type:/Article',
  ],
  ['solar AND category:"/News"', 'unknown_field', 'category', 'solar AND page_category:"/News"'],
  ['solar AND language:EN', 'unknown_language', 'EN', 'solar AND language:"en"'],
  ['solar AND page_type:"Job"', 'unknown_page_type', '"Job"', 'solar AND page_type:"/Listing/Job"'],
  [
    'solar AND page_category:"/Technology News"',
    'unknown_page_category',
    '"/Technology News"',
    'solar AND page_category:"/News/Technology_News"',
  ],
  [
    'solar AND publish_time:[2026-05-01 TO 2026-05-31]',
    'date_upper_bound',
    '2026-05-31',
    'solar AND publish_time:[2026-05-01 TO 2026-06-01}',
  ],
  ['(solar OR wind) recent:7d', 'misplaced_recent', 'recent:7d', '(solar OR wind) AND recent:7d'],
  ['solar AND recent:2w', 'bad_recent', '2w', 'solar AND recent:14d'],
  ['solar AND dr:>=60', 'comparison_operator', '>=60', 'solar AND dr:[60 TO *]'],
  [
    'solar AND domain:https://News.Example/tech',
    'unquoted_url',
    'https://News.Example/tech',
    'solar AND domain:"news.example"',
  ],
  ['“heat pump” AND storage', 'smart_quotes', '“', '"heat pump" AND storage'],
  [
    String.raw`solar AND url:/.*\/\d+\/.*/`,
    'regex_dialect',
    String.raw`\d`,
    String.raw`solar AND url:/.*\/[0-9]+\/.*/`,
  ],
];

describe('twenty typical mistakes', () => {
  test.each(mistakes)('%s: %s at %s', (rule, code, at, fixed) => {
    const found = firehoseLanguage.validate(rule).diagnostics.find((diagnostic) => diagnostic.code === code);
    const [fix] = found?.fixes ?? [];
    expect(found && rule.slice(...found.span)).toBe(at);
    expect(fix && applyFix(rule, fix)).toBe(fixed);
    expect(firehoseLanguage.validate(fixed).diagnostics.map((diagnostic) => diagnostic.code)).not.toContain(
      code,
    );
  });

  test('read well', async () => {
    await expect(pages(mistakes.map(([rule]) => rule))).toMatchFileSnapshot(
      '../golden/firehose-mistakes.txt',
    );
  });
});

/** One rule for each code that can be reported. */
const everyCode: Readonly<Record<string, string>> = {
  always_true: 'solar AND url:*',
  backward_range: 'solar AND publish_time:[2026-06-01 TO 2026-05-01]',
  bad_domain_rating: 'solar AND dr:60',
  bad_escape: String.raw`sol\u00zz`,
  bad_fuzzy: 'solar~1.5',
  bad_range: 'solar AND publish_time:[2026-05-01 to 2026-06-01]',
  bad_recent: 'solar AND recent:soon',
  bad_regex: 'solar AND url:/[a-/',
  boost: 'solar^4 AND wind',
  broad_rule: 'solar',
  comparison_operator: 'solar AND publish_time:>2026-05-01',
  dangling_operator: 'solar AND',
  date_upper_bound: 'solar AND publish_time:[* TO 2026-05-31]',
  date_without_time: 'solar AND publish_time:"2026-05-31"',
  dead_clause: '+solar wind',
  double_modifier: 'solar AND NOT -wind',
  dropped_signs: 'solar AND C++',
  empty_group: 'solar AND ()',
  empty_phrase: 'solar AND ""',
  empty_rule: '  ',
  escaped_space: String.raw`solar AND\tstorage`,
  exact_url: 'solar AND url:"https://news.example/a"',
  foreign_operator: 'solar | wind',
  glued_regex: 'UI/UX or A/B',
  ignored_clause: 'solar AND the',
  implicit_operator: 'solar wind storage',
  lone_sign: 'solar - jobs',
  lowercase_operator: 'solar or wind',
  misplaced_recent: 'solar AND NOT recent:7d',
  missing_value: 'solar AND title:',
  never_matches: 'title:/CVE-2026-[0-9]+/ AND solar',
  not_a_domain: 'solar AND domain:"news.example/tech"',
  not_a_url: 'solar AND url:news.example',
  nothing_left: 'the of and',
  only_negations: 'NOT solar',
  or_not: 'solar OR -wind',
  pattern_on_label: 'solar AND page_category:\\/News*',
  pattern_on_text: 'sol*',
  quoted_wildcard: 'solar AND url:"https://news.example/*"',
  recent_over_quality: 'solar AND recent:30d',
  regex_dialect: 'solar AND domain:/^news.*$/',
  regex_operator: 'solar AND url:/.*a&b.*/',
  smart_quotes: '„Wärmepumpe“ AND „Strom“',
  stray_character: 'title:foo:bar',
  too_deep: `${'('.repeat(33)}solar${')'.repeat(33)}`,
  too_long: `solar AND "${'x'.repeat(4000)}"`,
  too_many_clauses: Array.from({ length: 501 }, (_, index) => `w${index}`).join(' OR '),
  unclosed_paren: 'solar AND (wind OR storage',
  unclosed_quote: 'solar AND "heat pump AND wind',
  unclosed_regex: 'added:UI/UX',
  unexpected_paren: 'solar) AND wind',
  unknown_field: 'solar AND Apple:watch',
  unknown_language: 'solar AND language:"english"',
  unknown_page_category: 'solar AND page_category:"/Sport"',
  unknown_page_type: 'solar AND page_type:"/Artcle"',
  unquoted_label: 'page_type:/Article OR page_type:/Video',
  unquoted_tokens: 'e-mail AND 東京',
  unquoted_url: 'https://news.example/a AND solar',
  unresolved_filter: 'solar AND $no-junk',
  upper_case_domain: 'solar AND domain:"News.Example"',
};

describe('every finding', () => {
  test.each(Object.entries(everyCode))('%s is reported for %s', (code, rule) => {
    expect(firehoseLanguage.validate(rule).diagnostics.map((diagnostic) => diagnostic.code)).toContain(code);
  });

  test('reads well', async () => {
    await expect(pages(Object.values(everyCode))).toMatchFileSnapshot('../golden/firehose-findings.txt');
  });
});

function pages(rules: readonly string[]): string {
  return rules.map(page).join(`\n${'-'.repeat(80)}\n\n`);
}

function page(rule: string): string {
  const shown = rule.length > 200 ? `${rule.slice(0, 60)}… (${rule.length} characters)` : rule;
  return `${shown}\n\n${renderDiagnostics(rule, firehoseLanguage.validate(rule).diagnostics)}\n`;
}
