import { xLanguage } from '../../src/x/language.ts';

/** Random X rules and posts over one small vocabulary, so that rules do match now and then. Seeded, replayable. */
export type Random = () => number;

/** mulberry32 */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function pick<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}

const words = [
  'glacier',
  'lake',
  'ice',
  'snow',
  'Fjord',
  'café',
  '2026',
  'aurora',
  'и́лед',
  '氷河',
  '🔥',
] as const;
const users = ['acme_sky', 'acme_ice', 'north_cape'] as const;
const userIds = { acme_sky: '11', acme_ice: '22', north_cape: '33' } as const;
const languages = ['en', 'de', 'ja'] as const;
const flags = [
  'is:retweet',
  'is:reply',
  'is:quote',
  'is:verified',
  'has:hashtags',
  'has:mentions',
  'has:links',
  'has:media',
  'has:images',
  'has:videos',
  'has:geo',
] as const;

const leafMakers: readonly ((random: Random) => string)[] = [
  (random) => pick(random, words),
  (random) => pick(random, words),
  (random) => `"${pick(random, words)}"`,
  (random) => `"${pick(random, words)}  ${pick(random, words)}"`,
  (random) => `"${pick(random, words)} ${pick(random, words)}"~${1 + Math.floor(random() * 6)}`,
  (random) => `"${pick(random, words)}-${pick(random, words)}"`,
  (random) => `#${pick(random, ['ice', 'Snow', 'fjordlight'])}`,
  (random) => `@${pick(random, users)}`,
  (random) => `from:${pick(random, [...users, '11', '22'])}`,
  (random) => `to:${pick(random, users)}`,
  (random) => `retweets_of_user:${pick(random, users)}`,
  (random) => `url:"example.com/${pick(random, words)}"`,
  (random) => `url_contains:"${pick(random, words)}"`,
  (random) => `bio:${pick(random, words)}`,
  (random) => `place_country:${pick(random, ['no', 'IS'])}`,
  () => 'point_radius:[-21.9 64.10 10mi]',
  (random) => `context:${pick(random, ['47.*', '*.5', '47.5'])}`,
];

const filterMakers: readonly ((random: Random) => string)[] = [
  (random) => `lang:${pick(random, languages)}`,
  (random) => pick(random, flags),
  (random) => `followers_count:${pick(random, ['100', '100..5000', '0500'])}`,
  () => 'friends_count:10',
];

/** A clause that can stand alone. */
export function randomClause(random: Random): string {
  return pick(random, leafMakers)(random);
}

/** A valid rule as a person may write it: redundant groups, aliases, mixed case, doubled spaces. */
export function randomRule(random: Random): string {
  for (;;) {
    const rule = randomOr(random, 2);
    if (xLanguage.validate(rule).canonical !== null) return rule;
  }
}

function randomOr(random: Random, depth: number): string {
  const branches = Array.from({ length: 1 + Math.floor(random() * 2.4) }, () => randomBranch(random, depth));
  return branches.join(pick(random, [' OR ', '  OR ', ' OR ']));
}

function randomBranch(random: Random, depth: number): string {
  const parts = [randomClause(random)];
  const count = Math.floor(random() * 3);
  for (let index = 0; index < count; index += 1) parts.push(randomPart(random, depth));
  if (random() < 0.3) parts.reverse();
  return parts.join(random() < 0.1 ? '  ' : ' ');
}

function randomPart(random: Random, depth: number): string {
  const roll = random();
  if (roll < 0.3) return `-${randomClause(random)}`;
  if (roll < 0.5) return `${random() < 0.4 ? '-' : ''}${pick(random, filterMakers)(random)}`;
  if (roll < 0.75 && depth > 0) return `(${randomOr(random, depth - 1)})`;
  if (roll < 0.82) return `-(${randomClause(random)} OR ${randomClause(random)})`;
  return randomClause(random);
}

function randomText(random: Random): string {
  const count = 1 + Math.floor(random() * 7);
  const text = Array.from({ length: count }, () => {
    const word = pick(random, words);
    const roll = random();
    if (roll < 0.1) return `#${word}`;
    if (roll < 0.2) return word.toUpperCase();
    return word;
  });
  return text.join(pick(random, [' ', ', ', '-', ' ']));
}

function randomPostData(random: Random, id: string): Record<string, unknown> {
  const text = randomText(random);
  const hashtags = [...text.matchAll(/#(\p{L}+)/gu)].map((found) => ({ tag: found[1] }));
  const entities = {
    ...(hashtags.length > 0 ? { hashtags } : {}),
    ...(random() < 0.3 ? { mentions: [{ username: pick(random, users), id: '22' }] } : {}),
    ...(random() < 0.3
      ? { urls: [{ url: 'https://t.co/a', expanded_url: `https://example.com/${pick(random, words)}` }] }
      : {}),
  };
  return {
    id,
    text,
    author_id: userIds[pick(random, users)],
    lang: pick(random, languages),
    entities,
    ...(random() < 0.2 ? { attachments: { media_keys: [pick(random, ['m1', 'm2', 'm3'])] } } : {}),
    ...(random() < 0.2
      ? {
          geo: {
            place_id: 'p1',
            ...(random() < 0.5 ? { coordinates: { type: 'Point', coordinates: [-21.95, 64.12] } } : {}),
          },
        }
      : {}),
    ...(random() < 0.3
      ? { context_annotations: [{ domain: { id: '47' }, entity: { id: '5', name: 'Ice' } }] }
      : {}),
  };
}

/** An item as the stream delivers it; references are delivered most of the time. */
export function randomPayload(random: Random): Record<string, unknown> {
  const data = randomPostData(random, '1');
  const type = pick(random, ['', '', 'retweeted', 'quoted', 'replied_to']);
  const withheld = random() < 0.15;
  return {
    data: {
      ...data,
      ...(type === '' ? {} : { referenced_tweets: [{ type, id: '2' }] }),
      ...(type === 'replied_to' ? { in_reply_to_user_id: '22' } : {}),
    },
    includes: {
      users: users.map((username, index) => ({
        id: userIds[username],
        username,
        name: username,
        description: randomText(random),
        verified: index === 0,
        public_metrics: {
          followers_count: 90 * index * index + 20,
          following_count: 4 * index,
          tweet_count: 9,
          listed_count: 1,
        },
      })),
      ...(type === '' || withheld ? {} : { tweets: [randomPostData(random, '2')] }),
      media: [
        { media_key: 'm1', type: 'photo' },
        { media_key: 'm2', type: 'video' },
        { media_key: 'm3', type: 'animated_gif' },
      ],
      places: [
        {
          id: 'p1',
          full_name: 'Lake Ice, Norway',
          country_code: pick(random, ['NO', 'IS']),
          geo: { bbox: [-22, 64, -21.9, 64.1] },
        },
      ],
    },
  };
}
