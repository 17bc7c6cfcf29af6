import { lengthOf } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { blueskyLanguage } from '../../src/bluesky/language.ts';
import { pick, seeded } from '../x/generate.ts';
import {
  dids,
  facet,
  type Json,
  linkFeature,
  mentionFeature,
  payload,
  postOf,
  postUri,
  randomRule,
  randomTerms,
  rootOf,
  tagFeature,
  withDamage,
} from './posts.ts';

function verdict(rule: string, post: unknown): string {
  const { state, confidence } = blueskyLanguage.evaluate(rootOf(rule), post);
  return state === 'unknown' ? 'unknown' : `${state} ${confidence}`;
}

const text = 'Grüße vom Blue-Ice glacier 氷河が見える #FjordLight @Ada.example.com https://exam… 🔥';
const record = {
  $type: 'app.bsky.feed.post',
  text,
  createdAt: '2026-01-01T00:00:00.000Z',
  langs: ['de', 'en-US', 'nb'],
  tags: ['Beside'],
  facets: [
    facet(text, '#FjordLight', tagFeature('FjordLight')),
    facet(text, '@Ada.example.com', mentionFeature(dids.bo)),
    facet(text, 'https://exam…', linkFeature('https://example.com/Press/Snow')),
  ],
  reply: { root: { uri: postUri(dids.ada) }, parent: { uri: postUri(dids.cleo) } },
  embed: {
    $type: 'app.bsky.embed.recordWithMedia',
    record: { $type: 'app.bsky.embed.record', record: { uri: postUri(dids.bo), cid: 'c' } },
    media: { $type: 'app.bsky.embed.images', images: [{ alt: 'a penguin', image: {} }] },
  },
};
const full = payload(record);
const bare = payload({ $type: 'app.bsky.feed.post', text: 'nothing', createdAt: '2026-01-01T00:00:00.000Z' });
const withEmbed = (embed: Json) => payload({ text: 'nothing', embed });
const card = withEmbed({
  $type: 'app.bsky.embed.external',
  external: { uri: 'https://news.example/lake', title: 'penguin', description: 'penguin' },
});

/** Rules that the full post satisfies and the bare one does not. */
const satisfied = [
  'glacier',
  'GLACIER',
  '"blue ice"',
  '"ice blue"~2',
  '河',
  '🔥',
  'grüße',
  '#fjordlight',
  '#beside',
  '@ada.example.com',
  `@${dids.bo}`,
  `to:${dids.cleo}`,
  'url:"example.com/press"',
  'lang:de',
  'lang:en',
  'lang:EN-us',
  'lang:no',
  'has:links',
  'has:images',
  'has:mentions',
  'has:hashtags',
  'is:reply',
  'is:quote',
  `glacier (#ice OR #beside) -lang:fr`,
] as const;

describe('a leaf', () => {
  test.each(satisfied)('%s matches by what the post has', (rule) => {
    expect(verdict(rule, full)).toBe('match exact');
    expect(verdict(`-(${rule})`, full)).toBe('no_match exact');
    expect(verdict(rule, bare)).toBe('no_match exact');
    expect(verdict(`-(${rule})`, bare)).toBe('match exact');
  });

  test.each([
    // Words of alt texts, link cards and full links are not words of the post.
    ['penguin', full],
    ['penguin', card],
    ['press', full],
    ['"glacier blue"', full],
    ['#fjord', full],
    ['#glacier', full],
    ['@ada', full],
    [`@${dids.ada}`, full],
    [`to:${dids.ada}`, full],
    ['lang:en-gb', full],
    ['lang:fr', full],
    ['url:"example.com/snow"', full],
    ['url:penguin', card],
    ['url:glacier', full],
    ['has:images', card],
    ['is:quote', card],
  ])('%s does not match by something else', (rule, post) => {
    expect(verdict(rule, post)).toBe('no_match exact');
  });

  test('from: is the author', () => {
    expect(verdict(`from:${dids.ada}`, full)).toBe('match exact');
    expect(verdict(`from:${dids.bo}`, full)).toBe('no_match exact');
    expect(verdict('from:DID:WEB:Cleo.example.com', payload(record, dids.cleo))).toBe('match exact');
  });

  test.each([
    ['has:images', { $type: 'app.bsky.embed.images', images: [{ alt: '' }] }, 'match exact'],
    ['has:images', { $type: 'app.bsky.embed.images', images: [] }, 'no_match exact'],
    ['has:images', { $type: 'app.bsky.embed.gallery', items: [{ alt: '' }] }, 'match exact'],
    ['has:images', { $type: 'app.bsky.embed.video', video: {} }, 'no_match exact'],
    [
      'has:links',
      { $type: 'app.bsky.embed.external', external: { uri: 'https://a.example' } },
      'match exact',
    ],
    [
      'url:lake',
      { $type: 'app.bsky.embed.external', external: { uri: 'https://a.example/lake' } },
      'match exact',
    ],
    ['is:quote', { $type: 'app.bsky.embed.record', record: { uri: postUri(dids.bo) } }, 'match exact'],
    [
      'is:quote',
      { $type: 'app.bsky.embed.record', record: { uri: `at://${dids.bo}/app.bsky.feed.generator/a` } },
      'no_match exact',
    ],
    ['is:quote', { $type: 'com.example.embed' }, 'no_match exact'],
  ])('%s with the embed %j: %s', (rule, embed, expected) => {
    expect(verdict(rule, withEmbed(embed))).toBe(expected);
  });
});

/** What decides nothing when the field is malformed, and what it still decides. */
const malformed: readonly (readonly [rule: string, field: string, value: unknown, expected: string])[] = [
  ['glacier', 'text', 5, 'unknown'],
  ['glacier', 'text', null, 'unknown'],
  ['glacier', 'text', 'glacier '.repeat(400), 'unknown'],
  ['lang:en', 'text', 5, 'match exact'],
  ['@ada.example.com', 'text', 5, 'unknown'],
  [`@${dids.bo}`, 'text', 5, 'match exact'],
  ['#ice', 'facets', {}, 'unknown'],
  ['#ice', 'facets', [null], 'unknown'],
  ['#ice', 'facets', [{ features: 'x' }], 'unknown'],
  ['#ice', 'facets', [{ features: [{ tag: 'ice' }] }], 'unknown'],
  ['#ice', 'facets', [{ features: [tagFeature(5)] }], 'unknown'],
  ['#ice', 'facets', [{ features: [tagFeature('x'.repeat(1_000))] }], 'unknown'],
  ['#ice', 'facets', [{ features: [linkFeature(5)] }], 'no_match exact'],
  ['#ice', 'facets', [{ features: [{ $type: 'com.example.bold' }] }], 'no_match exact'],
  ['#ice', 'facets', [null, { features: [tagFeature('ice')] }], 'match exact'],
  ['#ice', 'facets', Array.from({ length: 101 }, () => ({ features: [] })), 'unknown'],
  ['#ice', 'facets', [{ features: Array.from({ length: 101 }, () => tagFeature('a')) }], 'unknown'],
  ['#beside', 'facets', 7, 'match exact'],
  ['has:hashtags', 'tags', 'ice', 'match exact'],
  ['#ice', 'tags', 'ice', 'unknown'],
  ['#ice', 'tags', [5], 'unknown'],
  ['url:lake', 'facets', [{ features: [linkFeature(undefined)] }], 'unknown'],
  ['has:links', 'facets', [{ features: [linkFeature('x'.repeat(5_000))] }], 'unknown'],
  [
    'url:lake',
    'facets',
    Array.from({ length: 11 }, () => ({ features: [linkFeature('x'.repeat(2_000))] })),
    'unknown',
  ],
  ['@bo.example.com', 'facets', [{ features: [mentionFeature(dids.bo)] }], 'unknown'],
  [
    '@bo.example.com',
    'facets',
    [{ index: { byteStart: 2, byteEnd: 3 }, features: [mentionFeature(dids.bo)] }],
    'unknown',
  ],
  [
    '@bo.example.com',
    'facets',
    [{ index: { byteStart: 9, byteEnd: 1 }, features: [mentionFeature(dids.bo)] }],
    'unknown',
  ],
  [`@${dids.bo}`, 'facets', [{ features: [mentionFeature(dids.bo)] }], 'match exact'],
  ['has:mentions', 'facets', [{ features: [mentionFeature(5)] }], 'unknown'],
  ['lang:en', 'langs', 'en', 'unknown'],
  ['lang:en', 'langs', [5], 'unknown'],
  ['lang:en', 'langs', ['', 'x y'], 'unknown'],
  ['lang:en', 'langs', [null, 'en'], 'match exact'],
  ['lang:en', 'langs', Array.from({ length: 30 }, () => 'de'), 'unknown'],
  ['is:reply', 'reply', 5, 'unknown'],
  ['is:reply', 'reply', {}, 'match exact'],
  [`to:${dids.bo}`, 'reply', {}, 'unknown'],
  [`to:${dids.bo}`, 'reply', { parent: { uri: 'at://bo.example.com/app.bsky.feed.post/1' } }, 'unknown'],
  ['has:images', 'embed', 5, 'unknown'],
  ['has:images', 'embed', { $type: 'app.bsky.embed.images', images: {} }, 'unknown'],
  ['is:quote', 'embed', { $type: 'app.bsky.embed.record', record: {} }, 'unknown'],
  ['is:quote', 'embed', { $type: 'app.bsky.embed.recordWithMedia', record: 5 }, 'unknown'],
  ['has:images', 'embed', { $type: 'app.bsky.embed.recordWithMedia', media: 5 }, 'unknown'],
  ['url:lake', 'embed', { $type: 'app.bsky.embed.external', external: 5 }, 'unknown'],
];

describe('a malformed post', () => {
  test.each(malformed)('%s, if %s is %j: %s', (rule, field, value, expected) => {
    const post = payload({ ...record, [field]: value });
    expect(verdict(rule, post)).toBe(expected);
    const opposite = { 'match exact': 'no_match exact', 'no_match exact': 'match exact' }[expected];
    expect(verdict(`-(${rule})`, post)).toBe(opposite ?? 'unknown');
  });

  test.each([[undefined], [null], [5], ['x'], [[]], [{}], [{ record: 'x' }], [{ did: 5, record: [] }]])(
    '%j decides nothing',
    (post) => {
      for (const rule of [...satisfied, `from:${dids.ada}`]) expect(verdict(rule, post)).toBe('unknown');
    },
  );

  test('never makes the evaluator or the explanation throw', () => {
    const random = seeded(7);
    const failures: string[] = [];
    for (let round = 0; round < lengthOf({ always: 2_000, nightly: 100_000 }); round += 1) {
      let post: unknown = postOf(randomTerms(random));
      for (let times = 1 + Math.floor(random() * 3); times > 0; times -= 1) post = withDamage(random, post);
      const root = rootOf(randomRule(random));
      const { state } = blueskyLanguage.evaluate(root, post);
      const explained = blueskyLanguage.explain(root, post).state;
      if (explained !== state) failures.push(`${explained} is not ${state}: ${JSON.stringify(post)}`);
    }
    expect(failures).toEqual([]);
  });

  /** A list of 200,000 entries that counts how many are read. */
  const longList = (entry: unknown) => {
    const counter = { reads: 0 };
    const entries = new Proxy(
      Array.from({ length: 200_000 }, () => entry),
      {
        get(target, key, receiver) {
          if (typeof key === 'string' && /^[0-9]+$/.test(key)) counter.reads += 1;
          return Reflect.get(target, key, receiver);
        },
      },
    );
    return { entries, counter };
  };

  test.each([
    ['facets', { features: [tagFeature('a')] }, (entries: unknown) => ({ facets: entries })],
    ['features', tagFeature('a'), (entries: unknown) => ({ facets: [{ features: entries }] })],
    ['tags', 'a', (entries: unknown) => ({ tags: entries })],
    ['languages', 'en', (entries: unknown) => ({ langs: entries })],
  ])('is read in part if it has too many %s', (_what, entry, recordOf) => {
    const { entries, counter } = longList(entry);
    const post = payload({ text: 'ice', ...recordOf(entries) });
    expect(verdict('#b OR lang:fr', post)).toBe('unknown');
    expect(counter.reads).toBeGreaterThan(0);
    expect(counter.reads).toBeLessThanOrEqual(100);
  });
});

describe('the explanation', () => {
  const evidenceOf = (rule: string, post: unknown) =>
    blueskyLanguage
      .explain(rootOf(rule), post)
      .witness.map(({ path, range, value }) => [path, range === null ? null : range.join('-'), value]);
  const at = (words: string) => `${text.indexOf(words)}-${text.indexOf(words) + words.length}`;

  test.each([
    ['glacier', ['record.text', at('glacier'), 'glacier']],
    ['"blue ice"', ['record.text', at('Blue-Ice'), 'Blue-Ice']],
    ['#fjordlight', ['record.facets[0].features[0].tag', null, 'FjordLight']],
    ['#beside', ['record.tags[0]', null, 'Beside']],
    ['@ada.example.com', ['record.text', at('@Ada.example.com'), '@Ada.example.com']],
    [`@${dids.bo}`, ['record.facets[1].features[0].did', null, dids.bo]],
    ['url:snow', ['record.facets[2].features[0].uri', '26-30', 'Snow']],
    ['lang:en', ['record.langs[1]', null, 'en-US']],
    [`from:${dids.ada}`, ['did', null, dids.ada]],
    [`to:${dids.cleo}`, ['record.reply.parent.uri', null, postUri(dids.cleo)]],
    ['is:quote', ['record.embed.record.record.uri', null, postUri(dids.bo)]],
    ['has:images', ['record.embed.media.images', null, '1 images']],
  ])('of %s names the place in the post', (rule, expected) => {
    expect(evidenceOf(rule, full)).toEqual([expected]);
  });

  test('of a miss names what contradicts it', () => {
    expect(evidenceOf('lang:fr', full).map(([path]) => path)).toEqual([
      'record.langs[0]',
      'record.langs[1]',
      'record.langs[2]',
    ]);
    expect(evidenceOf(`from:${dids.bo}`, full)).toEqual([['did', null, dids.ada]]);
  });

  test('counts offsets in UTF-16 behind characters of several bytes', () => {
    const emoji = '👩‍🚀👩‍🚀 ü @bo.example.com';
    const post = payload({ text: emoji, facets: [facet(emoji, '@bo.example.com', mentionFeature(dids.bo))] });
    const [found] = blueskyLanguage.explain(rootOf('@bo.example.com'), post).witness;
    expect(emoji.slice(...(found?.range ?? [0, 0]))).toBe('@bo.example.com');
  });

  test('has the verdict of the evaluator, and its witness keeps it', () => {
    const random = seeded(11);
    let matches = 0;
    for (let round = 0; round < lengthOf({ always: 1_500, nightly: 50_000 }); round += 1) {
      const post = postOf(randomTerms(random));
      const rule = randomRule(random, pick(random, [1, 2]));
      const { state, confidence, witness } = blueskyLanguage.explain(rootOf(rule), post);
      const evaluated = blueskyLanguage.evaluate(rootOf(rule), post);
      if (evaluated.state !== state || evaluated.confidence !== 'exact' || confidence !== 'exact')
        expect.fail(`${state} ${confidence} is not ${evaluated.state}: ${rule}, ${JSON.stringify(post)}`);
      if (state !== 'match') continue;
      matches += 1;
      for (const { path, range, value } of witness) {
        const found = path
          .split(/[.[\]]+/)
          .reduce<unknown>((part, key) => (key === '' ? part : (part as Json)[key]), post);
        const shown = range === null ? found : String(found).slice(...range);
        if (typeof shown === 'string' && shown !== value) expect(shown).toBe(value);
      }
    }
    expect(matches).toBeGreaterThan(200);
  });
});
