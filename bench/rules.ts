import { createRandom, type Random } from '../packages/query/test/firehose/random.ts';

/** Typical rules of about 100 characters: brands, phrases, groups, a few filters. */
const words =
  'glacier iceberg aurora fjord harbour launch outage recall merger lawsuit rocket battery chip turbine ferry festival derby striker vaccine drought'.split(
    ' ',
  );
const brands = ['acme sky', 'north cape', 'blue ice', 'polar works', 'fjord light'];

export function realisticRules(platform: 'x' | 'firehose', count: number): string[] {
  const random = createRandom(7);
  const make = platform === 'x' ? xRule : firehoseRule;
  const rules = new Set<string>();
  while (rules.size < count) {
    const rule = make(random);
    if (rule.length >= 85 && rule.length <= 115) rules.add(rule);
  }
  return [...rules];
}

function several(random: Random, make: (random: Random) => string): string[] {
  return Array.from({ length: 2 + random.below(3) }, () => make(random));
}

function xClause(random: Random): string {
  const roll = random.below(10);
  if (roll < 5) return random.pick(words);
  if (roll < 7) return `"${random.pick(brands)}"`;
  if (roll === 7) return `#${random.pick(words)}`;
  if (roll === 8) return `@acme_${random.pick(words)}`;
  return `from:acme_${random.pick(words)}`;
}

function xRule(random: Random): string {
  const groups = Array.from(
    { length: 1 + random.below(2) },
    () => `(${several(random, xClause).join(' OR ')})`,
  );
  const filters = ['lang:en', '-is:retweet', '-is:reply', 'has:links', `-${random.pick(words)}`].filter(() =>
    random.chance(0.5),
  );
  return [...groups, ...(random.chance(0.5) ? [xClause(random)] : []), ...filters].join(' ');
}

function firehoseClause(random: Random): string {
  const roll = random.below(10);
  if (roll < 4) return random.pick(words);
  if (roll < 6) return `"${random.pick(brands)}"`;
  if (roll < 8) return `title:${random.pick(words)}`;
  return `title:"${random.pick(brands)}"`;
}

function firehoseRule(random: Random): string {
  const groups = Array.from(
    { length: 1 + random.below(2) },
    () => `(${several(random, firehoseClause).join(' OR ')})`,
  );
  const filters = ['language:"en"', 'recent:1d', 'NOT title:jobs', 'page_type:"/Article"'].filter(() =>
    random.chance(0.4),
  );
  return [...groups, ...filters].join(' AND ');
}
