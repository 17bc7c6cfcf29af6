import { guideMarkdown } from '../guide.ts';
import type { SyntaxGuide } from '../language.ts';
import { depthMax } from '../x/dialect.ts';
import { blueskyDialect, clausesMax, lengthMax } from './tables.ts';

const pitfalls: SyntaxGuide['pitfalls'] = [
  { wrong: 'glacier AND lake', right: 'glacier lake', why: 'a space already means AND' },
  { wrong: 'glacier or lake', right: 'glacier OR lake', why: 'only capital OR is the operator' },
  {
    wrong: 'glacier OR lake -is:reply',
    right: '(glacier OR lake) -is:reply',
    why: 'a space binds tighter than OR',
  },
  {
    wrong: 'glacier -is:retweet',
    right: 'glacier',
    why: 'Bluesky posts contain no reposts',
  },
  {
    wrong: 'from:acme.example.com',
    right: 'from:did:plc:ewvi7nxzyoun6zhxrhs64oiz',
    why: 'posts name their author by DID; com.atproto.identity.resolveHandle returns it for a handle',
  },
  { wrong: '@acme', right: '@acme.bsky.social', why: 'a handle is whole' },
  {
    wrong: 'has:images lang:en',
    right: 'glacier has:images lang:en',
    why: 'C operators need a clause that stands alone',
  },
  { wrong: 'climat*', right: 'climate OR climatic', why: 'no wildcards, no stemming' },
];

const examples: SyntaxGuide['examples'] = [
  {
    intent: 'Follow a brand',
    value: '("northwind traders" OR #northwindtraders OR url:"northwind.example") lang:en',
    explanation: 'Name, tag and links to the site',
  },
  {
    intent: 'Follow the answers to an account',
    value: 'to:did:plc:ewvi7nxzyoun6zhxrhs64oiz (refund OR broken OR "not working")',
    explanation: 'Replies with a complaint',
  },
  {
    intent: 'Notice outages in a region',
    value: '"contoso cloud" (outage OR down OR offline) (europe OR frankfurt OR dublin) -is:reply',
    explanation: 'Three conditions: a name, a symptom, a place',
  },
];

/** Generated from the operator table; a test validates every example in it. */
export function guide(): SyntaxGuide {
  const facts = {
    platform: 'bluesky',
    rule_type: 'regular',
    summary:
      "Rules for Bluesky posts as they appear, in X's syntax. A rule is clauses; matching ignores case, words match whole. Only the text of the post is searched. Every rule, and every branch of OR, needs one clause that can stand alone and is not negated. Every word is required: keep the two or three that a post must have. A rule cannot ask for likes, followers, reposts or places.",
    grammar_version: '1',
    limits: { rule_length_max: lengthMax, clauses_max: clausesMax, nesting_max: depthMax },
    precedence:
      'A space means AND and binds tighter than `OR` (capitals). `-` directly before a clause excludes it. Parentheses group. So `a OR b c` is `a OR (b c)`. Phrases and values with punctuation or spaces stand in straight double quotes; a quote inside is `\\"`.',
    operators: blueskyDialect.operators.map((operator) => ({
      name: operator.name,
      form: operator.form,
      meaning: operator.meaning,
      standalone: operator.standalone === 'yes',
      negatable: true,
      examples: [operator.example],
      tier: 'standard' as const,
    })),
    pitfalls,
    examples,
  } as const satisfies Omit<SyntaxGuide, 'markdown'>;
  return { ...facts, markdown: guideMarkdown('Bluesky rule syntax', facts) };
}
