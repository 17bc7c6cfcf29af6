import { guideMarkdown } from '../guide.ts';
import type { SyntaxGuide } from '../language.ts';
import { depthMax } from './dialect.ts';
import { currentLanguages } from './languages.ts';
import { xDialect } from './tables.ts';

const { lengthMax, operators } = xDialect;

const pitfalls: SyntaxGuide['pitfalls'] = [
  { wrong: 'glacier AND lake', right: 'glacier lake', why: 'a space already means AND' },
  { wrong: 'glacier or lake', right: 'glacier OR lake', why: 'only capital OR is the operator' },
  { wrong: 'glacier NOT lake', right: 'glacier -lake', why: 'NOT is searched as a word' },
  {
    wrong: 'glacier OR lake -is:retweet',
    right: '(glacier OR lake) -is:retweet',
    why: 'a space binds tighter than OR',
  },
  {
    wrong: 'glacier OR lake "melting ice"',
    right: '(glacier OR lake) "melting ice"',
    why: 'the same; for one branch write `glacier OR (lake "melting ice")`',
  },
  {
    wrong: 'has:media lang:en',
    right: 'glacier has:media lang:en',
    why: 'C operators need a clause that stands alone, in every OR branch',
  },
  { wrong: 'glacier OR -lake', right: 'glacier -lake', why: 'an OR branch may not only exclude' },
  { wrong: 'glacier -(lake ice)', right: 'glacier -"lake ice"', why: 'a combination cannot be excluded' },
  { wrong: 'coca-cola', right: '"coca-cola"', why: 'punctuation needs quotes' },
  { wrong: 'climat*', right: 'climate OR climatic', why: 'no wildcards, no stemming' },
  {
    wrong: 'from:@acme_sky,acme_ice',
    right: 'from:acme_sky OR from:acme_ice',
    why: 'one account, without @',
  },
  {
    wrong: 'glacier OR lake sample:10',
    right: '(glacier OR lake) sample:10',
    why: 'sample: is for the whole rule',
  },
  {
    wrong: 'from:acme_sky from:acme_ice',
    right: 'from:acme_sky OR from:acme_ice',
    why: 'a post has one author',
  },
  {
    wrong: '"C++" jobs',
    right: '"C++ developer" jobs',
    why: 'signs are dropped: alone it would find the letter c',
  },
  { wrong: 'lang:en lang:de glacier', right: '(lang:en OR lang:de) glacier', why: 'a post has one language' },
];

const examples: SyntaxGuide['examples'] = [
  {
    intent: 'Follow a brand',
    value:
      '("northwind traders" OR @northwindhq OR #northwindtraders OR (northwind (app OR order OR orders OR support OR refund))) lang:en -from:northwindhq -is:retweet',
    explanation: 'Name, handle and tag; the short name only with a word of the trade',
  },
  {
    intent: "Watch a competitor's pricing page",
    value:
      '(url:"contoso.example/pricing" OR ((contoso OR @contoso) ("price increase" OR "new pricing" OR "new prices" OR "raised prices"))) -is:retweet',
    explanation: 'Links to the page, or the name with a phrase',
  },
  {
    intent: 'Notice outages in a region',
    value:
      '"contoso cloud" (outage OR down OR offline OR "not working" OR disruption) (europe OR frankfurt OR dublin OR "eu west" OR "eu central") -is:retweet',
    explanation: 'Three conditions: a name, a symptom, a place',
  },
  {
    intent: 'Cover a beat in Japanese',
    value: '(ランサムウェア OR マルウェア) (サーバー OR システム OR メーカー OR 病院) lang:ja -is:retweet',
    explanation: 'Two groups in one language; quotes are not needed',
  },
];

/** Generated from the operator table; a test validates every example in it. */
export function guide(): SyntaxGuide {
  const facts = {
    platform: 'x',
    rule_type: 'premium',
    summary:
      'Rules for X (Twitter) posts as they appear. A rule is clauses; matching ignores case, words match whole. Every rule, and every branch of OR, needs one clause that can stand alone and is not negated. Every word is required: keep the two or three that a post must have. A rule cannot ask for questions, sentiment, the country of the author or likes.',
    grammar_version: '1',
    limits: {
      rule_length_max: lengthMax.standard,
      rule_length_max_enterprise: lengthMax.enterprise,
      nesting_max: depthMax,
    },
    precedence:
      'A space means AND and binds tighter than `OR` (capitals). `-` directly before a clause excludes it. Parentheses group. So `a OR b c` is `a OR (b c)`. Phrases and values with punctuation or spaces stand in straight double quotes; a quote inside is `\\"`.',
    operators: operators.map((operator) => ({
      name: operator.name,
      form: operator.form,
      meaning:
        operator.value === 'lang'
          ? `${operator.meaning}: ${[...currentLanguages].join(' ')}`
          : operator.meaning,
      standalone: operator.standalone === 'yes',
      negatable: operator.negation !== 'never',
      examples: [operator.example],
      tier: operator.tier ?? 'standard',
    })),
    pitfalls,
    examples,
  } as const satisfies Omit<SyntaxGuide, 'markdown'>;
  return { ...facts, markdown: guideMarkdown('X rule syntax', facts) };
}
