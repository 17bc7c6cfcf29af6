import { describe, expect, test } from 'vitest';
import { applyFix } from '../../src/diagnostics.ts';
import { renderDiagnostics } from '../../src/render.ts';
import { xLanguage } from '../../src/x/language.ts';

/** Rules as people really write them: what is found, at which text, and what the first fix makes of it. */
const mistakes: readonly (readonly [rule: string, code: string, at: string, fixed: string])[] = [
  ['(glacier OR lake) AND lang:en', 'ambiguous_and', 'AND', '(glacier OR lake) lang:en'],
  ['melting and glacier', 'ambiguous_and', 'and', 'melting glacier'],
  ['glacier or iceberg lang:en', 'lowercase_or', 'or', 'glacier OR iceberg lang:en'],
  ['glacier OR iceberg -is:retweet', 'or_precedence', '-is:retweet', '(glacier OR iceberg) -is:retweet'],
  ['lang:en glacier OR iceberg', 'or_precedence', 'lang:en', 'lang:en (glacier OR iceberg)'],
  ['“north cape” aurora', 'curly_quotes', '“north cape”', '"north cape" aurora'],
  [String.raw`\"north cape\" aurora`, 'escaped_quotes', String.raw`\"north cape\"`, '"north cape" aurora'],
  ["'north cape' aurora", 'single_quotes', "'north cape'", '"north cape" aurora'],
  ['aurora NOT giveaway', 'not_is_a_word', 'NOT', 'aurora -giveaway'],
  ['coca-cola zero', 'unquoted_punctuation', 'coca-cola', '"coca-cola" zero'],
  ['iceberg^2 summit', 'foreign_syntax', 'iceberg^2', 'iceberg summit'],
  ['from:@acme_sky outage', 'bad_handle', '@acme_sky', 'from:acme_sky outage'],
  ['from:acme_sky,acme_ice', 'one_value', 'acme_sky,acme_ice', '(from:acme_sky OR from:acme_ice)'],
  ['outage from: acme_sky', 'space_after_colon', 'from:', 'outage from:acme_sky'],
  ['glacier filter:links', 'unsupported_operator', 'filter:links', 'glacier has:links'],
  ['glacier has:image', 'unknown_operator', 'has:image', 'glacier has:images'],
  ['glacier lang:en lang:de', 'language_conflict', 'lang:de', 'glacier (lang:en OR lang:de)'],
  ['glacier OR iceberg sample:10', 'sample_needs_group', 'sample:10', '(glacier OR iceberg) sample:10'],
  ['glacier OR has:media', 'needs_standalone', 'has:media', 'glacier has:media'],
  ['(glacier OR iceberg lang:en', 'unclosed_parenthesis', '(', '(glacier OR iceberg) lang:en'],
];

/** Fixes of clauses that are written in a less common way. */
test.each([
  ['(retweets_of_user:acme_sky,acme_ice) snow', '(retweets_of:acme_sky OR retweets_of:acme_ice) snow'],
  ['snow -@acme_sky,@acme_ice', 'snow -(@acme_sky OR @acme_ice)'],
  ['#ice,#snow', '#ice OR #snow'],
  ['#ice,#snow lang:en', '(#ice OR #snow) lang:en'],
  ['ice lang:en lang:de lang:fr', 'ice (lang:en OR lang:de OR lang:fr)'],
  ['(filter:links) ice', '(has:links) ice'],
  ['profile_country:"north cape"', 'bio_location:"north cape"'],
  ['hashtag:#ice', '#ice'],
  ['cashtag:acme', '$acme'],
  ['ice followers_count:500-100', 'ice followers_count:100..500'],
  ['bounding_box:[-21.7 64.2 -22.1 64]', 'bounding_box:[-22.1 64 -21.7 64.2]'],
  ['lang:en ice OR snow -is:retweet', 'lang:en (ice OR snow) -is:retweet'],
  ['ice OR snow OR -fog', '(ice OR snow) -fog'],
  ['has:media OR ice', 'ice has:media'],
  ['cat|dog', '(cat OR dog)'],
  ['!ice snow', '-ice snow'],
])('the first fix of %s gives %s', (rule, fixed) => {
  const [fix] = xLanguage.validate(rule).diagnostics.flatMap(({ fixes }) => fixes);
  expect(fix && applyFix(rule, fix)).toBe(fixed);
});

describe('twenty typical mistakes', () => {
  test.each(mistakes)('%s: %s at %s', (rule, code, at, fixed) => {
    const found = xLanguage.validate(rule).diagnostics.find((diagnostic) => diagnostic.code === code);
    const [fix] = found?.fixes ?? [];
    expect(found && rule.slice(...found.span)).toBe(at);
    expect(fix && applyFix(rule, fix)).toBe(fixed);
    expect(xLanguage.validate(fixed).diagnostics.map((diagnostic) => diagnostic.code)).not.toContain(code);
  });

  test('read well', async () => {
    const pages = mistakes.map(
      ([rule]) => `${rule}\n\n${renderDiagnostics(rule, xLanguage.validate(rule).diagnostics)}\n`,
    );
    await expect(pages.join(`\n${'-'.repeat(80)}\n\n`)).toMatchFileSnapshot('../golden/x-mistakes.txt');
  });
});

/** One rule per code that the validator and the parser can report. */
const everyCode: readonly string[] = [
  '',
  'x'.repeat(1025),
  '(a1',
  'a1)',
  'a1 ()',
  `${'('.repeat(33)}a1${')'.repeat(33)} b1`,
  'a1 OR',
  'a1 -',
  '- a1 b1',
  'a1 --b1',
  'a1 –b1',
  '(a1)(b1)',
  '"a1',
  'a1 ""',
  'a1 "!!!"',
  'a1 from:',
  'a1 && b1',
  'a1\u200bb1',
  'https://example.com/a1',
  '👍🏽 a1',
  '"a1 b1"~9',
  '#a1-b1',
  '$100',
  'url:https://example.com',
  'url:example.com',
  'conversation_id:abc',
  'a1 lang:xx',
  'a1 lang:is',
  'place_country:usa',
  'a1 followers_count:1k',
  'a1 sample:5 sample:6',
  'point_radius:[1,2,3km]',
  'context:47',
  'embedding:"ice" a1',
  'a1 embedding_threshold:0.4',
  'is:nullcast a1',
  'a1 -sample:10',
  'a1 -(b1 c1)',
  'a1 -(b1 OR c1)',
  'a1 -a1',
  '-a1',
  'a1 OR -b1',
  '(a1 OR -b1) c1',
  'the',
  'min_followers:100',
  'a1 min_likes:5',
  'frm:acme',
  'from:acme from:ice',
  'a1 "is:reply"',
  'a1 "C++"',
  'C# jobs',
  'a1*',
  'a1 is:retweet has:geo',
  'a1 (b1 OR -a1) -b1 -(c1 OR b1)',
  'place:new york',
  'a1 -is:retweet,-is:reply',
  'a1 ~2',
  'a1 NEAR/3 b1',
  'a1 exclude:retweets',
];

test('every finding reads well', async () => {
  const pages = everyCode.map((rule) => renderDiagnostics(rule, xLanguage.validate(rule).diagnostics));
  expect(everyCode.filter((_, index) => pages[index] === '')).toEqual([]);
  await expect(`${pages.join('\n\n')}\n`).toMatchFileSnapshot('../golden/x-findings.txt');
});

test('messages and titles stay short whatever the rule, and every span lies inside it', () => {
  const long = 'x'.repeat(900);
  const longRules = [
    `${long}:a`,
    `${long}: a`,
    `a OR b -${long}`,
    `!${long}`,
    `from:@${long}`,
    `#${long}-`,
    `has:${long}`,
    `${long}*`,
  ];
  const rules = [...everyCode, ...mistakes.map(([rule]) => rule), ...longRules];
  const findings = rules.flatMap((rule) =>
    xLanguage.validate(rule).diagnostics.map((found) => ({ rule, ...found })),
  );
  const unfit = findings.filter(
    ({ rule, message, span, fixes }) =>
      !/[.?]$/.test(message) ||
      message.length > 200 ||
      fixes.some(({ title }) => title.length > 60) ||
      span[0] > span[1] ||
      span[1] > rule.length,
  );
  expect(unfit).toEqual([]);
});
