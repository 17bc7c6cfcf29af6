import type { Platform, SyntaxGuide } from '@earshot/contract';

type Operator = SyntaxGuide['operators'][number];
type Guide = Omit<SyntaxGuide, 'markdown'>;

function operator(form: string, meaning: string, examples: string[], more: Partial<Operator> = {}): Operator {
  const name = more.name ?? form.split(':')[0] ?? form;
  return { name, form, meaning, standalone: true, negatable: true, examples, tier: null, ...more };
}

const x: Guide = {
  rule_type: 'premium',
  summary:
    'A rule for the filtered stream of X: words and operators, joined by spaces (all must hold) or OR, negated by a leading dash.',
  grammar_version: 'x-2026-08',
  limits: { length_max: 1_024 },
  precedence: ['-term (not)', 'a b (and)', 'a OR b (or)'],
  operators: [
    operator('word', 'The post contains the word.', ['glacier'], { name: 'keyword' }),
    operator('"exact words"', 'The post contains the words in this order.', ['"blue ice"'], {
      name: 'phrase',
    }),
    operator('#tag', 'The post has the hashtag.', ['#fjordlight'], { name: 'hashtag' }),
    operator('@user', 'The post mentions the user.', ['@acme_sky'], { name: 'mention' }),
    operator('from:user', 'The post is by the user.', ['from:acme_sky']),
    operator('to:user', 'The post replies to the user.', ['to:acme_sky']),
    operator('lang:code', 'The post is in the language.', ['glacier lang:en'], { standalone: false }),
    operator('is:retweet', 'The post is a retweet.', ['glacier -is:retweet'], { standalone: false }),
    operator('has:links', 'The post has a link.', ['glacier has:links'], { standalone: false }),
  ],
  pitfalls: [
    'There is no AND: a space means and. The word AND is refused.',
    'Spaces bind tighter than OR: `a OR b -is:retweet` still gives retweets of `a`. Write `(a OR b) -is:retweet`.',
    'A rule needs at least one operator that may stand alone; `lang:en` alone is refused.',
    'OR is upper case; `or` is a word like any other.',
  ],
  examples: [
    {
      intent: 'Posts in English about two glaciers, without retweets',
      value: '(vatnajokull OR "blue ice") lang:en -is:retweet',
      explanation: 'The parentheses make both conditions hold for either word.',
    },
  ],
};

const firehose: Guide = {
  rule_type: 'regular',
  summary:
    'A rule for the Firehose web stream: a Lucene query on what a page added, its title, domain, language and more.',
  grammar_version: 'firehose-2026-06',
  limits: { length_max: 4_000 },
  precedence: ['field:', 'NOT', 'AND', 'OR'],
  operators: [
    operator('word', 'The added text contains the word.', ['solar'], { name: 'added' }),
    operator('"exact words"', 'The added text contains the words in this order.', ['"heat pump"'], {
      name: 'phrase',
    }),
    operator('title:word', 'The title contains the word.', ['title:"heat pump"']),
    operator('domain:name', 'The page is on the domain.', ['domain:example.com'], { standalone: true }),
    operator('language:code', 'The page is in the language.', ['solar AND language:"en"']),
    operator('recent:span', 'The page was published within the span.', ['solar AND recent:7d'], {
      standalone: false,
      negatable: false,
    }),
  ],
  pitfalls: [
    'Always write AND, OR and parentheses: `a b` means a OR b.',
    'In `a OR b AND c` the `a` has no effect. Write `(a OR b) AND c`.',
    '`NOT a` alone matches nothing: put something positive before it.',
    'Quote values with special characters: `page_category:"/News"`.',
  ],
  examples: [
    {
      intent: 'German pages about heat pumps of the last week',
      value: 'title:"heat pump" AND language:"de" AND recent:7d',
      explanation: 'Every condition is joined by AND.',
    },
  ],
};

function toMarkdown(title: string, guide: Guide): string {
  return [
    `# ${title}`,
    guide.summary,
    `Binding, tightest first: ${guide.precedence.join(', ')}.`,
    '## Operators',
    ...guide.operators.map(
      ({ form, meaning, examples }) => `- \`${form}\`: ${meaning} Example: \`${examples[0]}\``,
    ),
    '## Pitfalls',
    ...guide.pitfalls.map((pitfall) => `- ${pitfall}`),
    '## Examples',
    ...guide.examples.map(({ intent, value, explanation }) => `- ${intent}: \`${value}\`. ${explanation}`),
  ].join('\n');
}

export const syntaxGuides: Readonly<Record<Platform, SyntaxGuide>> = {
  x: { ...x, markdown: toMarkdown('Rules for X', x) },
  firehose: { ...firehose, markdown: toMarkdown('Rules for Firehose', firehose) },
};
