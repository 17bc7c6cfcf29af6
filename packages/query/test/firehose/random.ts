/** A small seeded generator (mulberry32): the same seed gives the same rules and pages. */
export interface Random {
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
  chance(probability: number): boolean;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
  };
}

const words = ['solar', 'wind', 'hydro', 'heat', 'pump', 'pumps', 'grid', 'Art', 'state', 'ab', 'ba', 'K'];
const stopWords = ['the', 'of', 'a', 'not', 'and'];
const joinedWords = [
  "we're",
  '3.5',
  'shop.example',
  'snake_case',
  'heat-pump',
  '10-K',
  '東京',
  'Straße',
  'ΣΑΣ',
  'UI/UX',
];
const textFields = ['added', 'removed', 'title'];
const keywordFields = ['url', 'domain', 'publish_time', 'page_category', 'page_type', 'language'];

const keywordValues: Readonly<Record<string, readonly string[]>> = {
  url: ['https://a.example.com/press/2026', 'https://www.b.example/News', 'https://a.example.com/jobs/1'],
  domain: ['example.com', 'a.example.com', 'b.example', 'www.b.example'],
  publish_time: ['2026-05-01T08:00:00', '2026-05-02', '2026-06-01T00:00:00', '2025-12-31T23:59:59'],
  page_category: ['/News', '/News/Politics', '/Science', "/Health/Men's_Health"],
  page_type: ['/Article', '/Article/How_to', '/Listing/Job'],
  language: ['en', 'de', 'zh-cn'],
};

export interface Page {
  readonly url: string;
  readonly title?: string;
  readonly publish_time?: string;
  readonly language?: string;
  readonly page_category?: readonly string[];
  readonly page_types?: readonly string[];
  readonly chunks: readonly { readonly typ: 'ins' | 'del'; readonly text: string }[];
}

export function randomPage(random: Random): Page {
  const valueOf = (field: string): string => random.pick(keywordValues[field] ?? []);
  const some = (field: string): string[] => Array.from({ length: random.below(3) }, () => valueOf(field));
  const chunks = Array.from({ length: random.below(4) }, () => ({
    typ: random.chance(0.7) ? ('ins' as const) : ('del' as const),
    text: randomText(random, 12),
  }));
  return {
    url: valueOf('url'),
    ...(random.chance(0.8) ? { title: randomText(random, 6) } : {}),
    ...(random.chance(0.8) ? { publish_time: valueOf('publish_time') } : {}),
    ...(random.chance(0.8) ? { language: valueOf('language') } : {}),
    page_category: some('page_category'),
    page_types: some('page_type'),
    chunks,
  };
}

function randomText(random: Random, longest: number): string {
  const length = 1 + random.below(longest);
  return Array.from({ length }, () => randomWord(random)).join(random.pick([' ', ' ', ', ', '. ']));
}

function randomWord(random: Random): string {
  return random.pick(random.chance(0.15) ? joinedWords : random.chance(0.15) ? stopWords : words);
}

/** A rule that is mostly well-formed and uses every corner of the grammar. */
export function randomRule(random: Random, depth = 0): string {
  const count = 1 + random.below(depth === 0 ? 4 : 3);
  let rule = '';
  for (let index = 0; index < count; index += 1) {
    if (index > 0)
      rule += random.pick([' AND ', ' AND ', ' OR ', ' OR ', ' ', ' && ', ' || ', ' AND NOT ', ' OR NOT ']);
    rule += randomClause(random, depth);
  }
  return rule;
}

function randomClause(random: Random, depth: number): string {
  const sign = random.chance(0.12) ? random.pick(['+', '-', '!', 'NOT ', '- ']) : '';
  if (depth < 3 && random.chance(0.25)) {
    const field = random.chance(0.2) ? `${random.pick(textFields)}:` : '';
    return `${sign}${field}(${randomRule(random, depth + 1)})`;
  }
  return `${sign}${random.chance(0.3) ? randomKeywordLeaf(random) : randomTextLeaf(random)}`;
}

function randomTextLeaf(random: Random): string {
  const field = random.chance(0.35) ? `${random.pick(textFields)}:` : '';
  const word = random.pick(words);
  const slop = random.chance(0.4) ? `~${random.pick(['', '1', '2', '3', '5', '9'])}` : '';
  const kinds = [
    () => word,
    () => randomWord(random).replace('/', '\\/'),
    () => `"${randomText(random, 3)}"${slop}`,
    () => `"${randomText(random, 4)}"${slop}`,
    () => `${word.slice(0, 2)}*`,
    () => random.pick(['*a*', 's?l*r', '?b', '*', 'p?mp?', 'h*t', 'Sol*', 'a**']),
    () => `${word}~${random.pick(['', '1', '2', '0', '0.5', '0.8', '3'])}`,
    () =>
      `/${random.pick(['s.*', '[a-h]+', 'pumps?', '(wind|hydro)', '~(s.*)', '@a@&.{5}', 'so?lar', '.b'])}/`,
    () =>
      `${random.pick(['[', '{'])}${random.pick(['a', 'h', '*', 'pump'])} TO ${random.pick(['s', 'heat', '*', '"w"'])}${random.pick([']', '}'])}`,
    () => `${word}^2`,
    () => random.pick(['so\\lar', 's\\u006flar', 'wi\\*nd', '\\"heat\\"']),
  ];
  return field + random.pick(kinds)();
}

function randomKeywordLeaf(random: Random): string {
  const field = random.pick(keywordFields);
  const value = random.pick(keywordValues[field] ?? []);
  const escaped = value.replaceAll(/[+\-!(){}[\]^"~*?:\\/]/g, '\\$&');
  const cut = random.below(value.length);
  const kinds = [
    () => `"${value}"`,
    () => `"${value}"`,
    () => escaped,
    () => `${value.slice(0, cut).replaceAll(/[+\-!(){}[\]^"~*?:\\/]/g, '\\$&')}*`,
    () => `*${value.slice(cut).replaceAll(/[+\-!(){}[\]^"~*?:\\/]/g, '\\$&')}`,
    () => `/${value.slice(0, cut).replaceAll(/[^a-zA-Z0-9]/g, '\\$&')}.*/`,
    () => `["${value}" TO *]`,
    () => `{* TO "${value}"}`,
    () => `[2026-05-01 TO 2026-06-01}`,
    () => `${random.pick(['/', ''])}${random.pick(['.*[0-9]+/', '[a-z.\\-]+/'])}`.replace(/^(?!\/)/, '/'),
  ];
  return `${field}:${random.pick(kinds)()}`;
}

/** Lucene's expressions with all their operators; some are broken. */
export function randomRegex(random: Random, depth = 0): string {
  const pieces = 1 + random.below(3);
  let regex = '';
  for (let index = 0; index < pieces; index += 1) {
    const group = depth < 3 && random.chance(0.3);
    regex += group ? `(${randomRegex(random, depth + 1)})` : random.pick(regexAtoms);
    if (random.chance(0.4)) regex += random.pick(['*', '+', '?', '{2}', '{1,2}', '{1,}', '{0}']);
    if (index + 1 < pieces && random.chance(0.3)) regex += random.pick(['|', '|', '&']);
  }
  return random.chance(0.1) ? `~${regex}` : regex;
}

const regexAtoms = [
  'a',
  'b',
  'c',
  '0',
  '.',
  '@',
  '#',
  '[ab]',
  '[^a]',
  '[a-c0]',
  '"ab"',
  '<0-12>',
  '<05-10>',
  '()',
  '~a',
  '~(ab)',
  '\\-',
  '\\&',
  '[',
  '*',
  '-',
];
