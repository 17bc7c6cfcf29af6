import { guideMarkdown } from '../guide.ts';
import type { OperatorGuide, SyntaxGuide } from '../language.ts';
import { forms } from './forms.ts';
import { pageTypesInWords } from './labels.ts';
import { fields, limits } from './tables.ts';
import { stopWordList } from './tokenize.ts';

const pitfalls: SyntaxGuide['pitfalls'] = [
  {
    wrong: 'solar OR wind AND storage',
    right: '(solar OR wind) AND storage',
    why: 'without precedence this is read as `wind AND storage`; solar is ignored',
  },
  { wrong: 'heat pump', right: '"heat pump"', why: 'words side by side mean OR' },
  { wrong: 'solar language:"en"', right: 'solar AND language:"en"', why: 'the same, also for fields' },
  { wrong: 'title:heat pump', right: 'title:"heat pump"', why: 'a field belongs to the next word only' },
  {
    wrong: 'solar AND (NOT jobs AND NOT careers)',
    right: 'solar AND NOT (jobs OR careers)',
    why: 'a group of exclusions matches nothing',
  },
  { wrong: 'solar OR NOT wind', right: 'solar AND NOT wind', why: 'an exclusion always narrows' },
  { wrong: 'solar and wind', right: 'solar AND wind', why: 'operators are upper case' },
  {
    wrong: '"is down" AND acme',
    right: '"site is down" AND acme',
    why: 'stop words are not indexed: it finds every `down`',
  },
  { wrong: 'title:10-K', right: 'title:"10-K"', why: 'unquoted, it is 10 OR k' },
  {
    wrong: 'solar AND page_category:/News',
    right: 'solar AND page_category:"/News"',
    why: 'an unquoted slash starts a regular expression',
  },
  {
    wrong: 'solar AND url:*/press/*',
    right: 'solar AND url:*\\/press\\/*',
    why: 'the same: a slash in a pattern needs a backslash',
  },
  {
    wrong: 'solar AND url:"*/press/*"',
    right: 'solar AND url:*\\/press\\/*',
    why: 'in quotes `*` is no wildcard',
  },
  {
    wrong: 'solar AND category:"/News"',
    right: 'solar AND page_category:"/News"',
    why: 'an unknown field never matches',
  },
  { wrong: 'solar AND language:EN', right: 'solar AND language:"en"', why: 'values are compared with case' },
  { wrong: 'language:"en"', right: '"heat pump" AND language:"en"', why: 'filters alone match the crawl' },
  {
    wrong: 'solar AND publish_time:[2026-05-01 TO 2026-05-31]',
    right: 'solar AND publish_time:[2026-05-01 TO 2026-06-01}',
    why: 'times are compared as text, so the last day would be missing',
  },
  {
    wrong: 'solar recent:7d',
    right: 'solar AND recent:7d',
    why: '`recent:` is joined by AND on the top level',
  },
  { wrong: 'solar AND dr:>=60', right: 'solar AND dr:[60 TO *]', why: 'there are no comparison operators' },
];

const examples: SyntaxGuide['examples'] = [
  {
    intent: 'Follow a brand',
    value:
      '("northwind traders" OR title:"northwind traders" OR ((northwind OR "northwind\'s" OR "northwind’s") AND (app OR order OR orders OR support OR refund))) AND language:"en" AND NOT domain:"northwind.example"',
    explanation: 'Text or title; a possessive is a separate word',
  },
  {
    intent: "Watch a competitor's pricing page",
    value: 'domain:"contoso.example" AND url:*\\/pricing*',
    explanation: 'With `options.firehose.quality` false; slashes in a pattern are escaped',
  },
  {
    intent: 'Notice outages in a region',
    value:
      '("contoso cloud" OR title:"contoso cloud") AND (outage OR downtime OR disruption OR title:outage) AND (europe OR frankfurt OR dublin OR "eu west" OR "eu central")',
    explanation: 'One kind of operator per level',
  },
  {
    intent: 'Follow mergers and acquisitions',
    value:
      'title:(contoso OR fabrikam) AND title:(acquire OR acquires OR acquired OR acquisition OR merger OR takeover) AND dr:[50 TO *]',
    explanation: 'A field before a group belongs to all of it',
  },
];

/** Generated from the field table; a test validates every example in it. */
export function guide(): SyntaxGuide {
  const facts = {
    platform: 'firehose',
    rule_type: 'regular',
    summary:
      'Rules for web pages as a crawler sees them change (Lucene classic query syntax). A clause without a field searches `added`, the newly inserted text. Every delivered page is billed: narrow by language, category or site. By default the quality filter keeps only pages published in the last 7 days; to follow older pages, such as a pricing page, set `options.firehose.quality` to false. A rule cannot ask for sentiment, for questions, or for a fetch of a page.',
    grammar_version: '1',
    limits: { rule_length_max: limits.length, clauses_max: limits.leaves, nesting_max: limits.depth },
    precedence:
      'AND and OR have **no precedence**. On one parenthesis level, AND makes the clauses on both of its sides required, NOT excludes, the rest is optional, and optional clauses beside required ones are ignored. So use one kind of operator per level and parentheses for everything else. Operators are upper case. Outside quotes the characters `+ - ! ( ) { } [ ] ^ " ~ * ? : \\ /` need a backslash.',
    operators: [...forms, ...fields.values()].map(formGuide).map(withList),
    pitfalls,
    examples,
  } as const satisfies Omit<SyntaxGuide, 'markdown'>;
  return { ...facts, markdown: guideMarkdown('Firehose rules', facts) };
}

/** The closed lists that a rule needs to be exact. */
function withList(operator: OperatorGuide): OperatorGuide {
  const list =
    operator.name === 'page_type'
      ? `All: ${pageTypesInWords()}`
      : operator.name === 'word'
        ? `Stop words: ${stopWordList}`
        : null;
  return list === null ? operator : { ...operator, meaning: `${operator.meaning}. ${list}` };
}

function formGuide({
  name,
  form,
  meaning,
  examples,
}: Pick<OperatorGuide, 'name' | 'form' | 'meaning' | 'examples'>): OperatorGuide {
  const isRecent = name === 'recent';
  return {
    name,
    form,
    meaning,
    examples,
    standalone: !isRecent,
    negatable: !isRecent && name !== 'not',
    tier: 'standard',
  };
}
