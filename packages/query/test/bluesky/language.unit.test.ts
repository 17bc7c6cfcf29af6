import { lengthOf } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { corrected, judgeExamples, languages } from '../../src/index.ts';
import { xDialect } from '../../src/x/tables.ts';
import { fuzz } from '../fuzz/harness.ts';
import { xInputs } from '../fuzz/x-inputs.ts';
import { pick, type Random, seeded } from '../x/generate.ts';
import { dids, facet, linkFeature, payload, postUri, tagFeature } from './posts.ts';

const { x, bluesky } = languages;

describe('a Bluesky rule', () => {
  test.each([
    ['glacier lake -ice'],
    ['("acme sky" OR #acmesky) lang:en'],
    ['"blue ice"~3 has:links'],
    [`from:${dids.ada}`],
    [`to:${dids.cleo} refund`],
    [`@${dids.bo}`],
    ['@ada.example.com'],
    ['url:"example.com/press"'],
    ['#foo-bar'],
    ['"blue ice" lang:pt-BR'],
    // On X an image is a link, too.
    ['"blue ice" has:images -has:links'],
    ['"blue ice" has:images has:mentions has:hashtags is:reply -is:quote'],
  ])('%s is valid', (rule) => {
    expect(bluesky.validate(rule).diagnostics.filter(({ severity }) => severity !== 'warning')).toEqual([]);
  });

  test.each([
    ['"acme sky" -is:retweet', 'unsupported_operator', '"acme sky"'],
    ['-is:nullcast "acme sky"', 'unsupported_operator', '"acme sky"'],
    ['"acme sky" exclude:retweets', 'unsupported_operator', '"acme sky"'],
    ['hashtag:fjordlight', 'unsupported_operator', '#fjordlight'],
    // A rule that needs a repost would match nothing, and without the clause much more.
    ['"acme sky" is:retweet', 'unsupported_operator', null],
    ['"acme sky" followers_count:1000', 'unsupported_operator', null],
    ['point_radius:[-21.9 64.1 16km]', 'unsupported_operator', null],
    ['"acme sky" $ACME', 'unsupported_operator', null],
    ['"acme sky" frm:x', 'unknown_operator', null],
    ['from:alice.bsky.social', 'bad_handle', null],
    [`from:@${dids.ada}`, 'bad_handle', `from:${dids.ada}`],
    ['@alice', 'bad_handle', null],
    ['@ada.example.com.', 'bad_handle', '@ada.example.com'],
    ['from:did:plc:abc', 'unusual_did', null],
    ['"blue ice" lang:english', 'unknown_language', '"blue ice" lang:en'],
    ['"blue ice" lang:pt_BR', 'unknown_language', '"blue ice" lang:pt-br'],
    ['"blue ice" lang:xx', 'unknown_language', null],
    ['"blue ice" lang:en,de', 'one_value', '"blue ice" (lang:en OR lang:de)'],
    ['#fjordlight.', 'bad_tag', '#fjordlight'],
    ['#2026', 'bad_tag', null],
    ['lang:en', 'needs_standalone', null],
    ['-glacier', 'only_negations', null],
    ['glacier OR -lake', 'negated_or_branch', null],
    ['the', 'stop_words_only', null],
    ['climat*', 'no_wildcards', null],
    [`from:${dids.ada} from:${dids.bo}`, 'value_conflict', `(from:${dids.ada} OR from:${dids.bo})`],
    [`"${'x'.repeat(2_047)}"`, 'too_long', null],
    [Array.from({ length: 201 }, (_, index) => `a${index}`).join(' OR '), 'too_many_clauses', null],
  ])('%s has the finding %s, corrected: %s', (rule, code, expected) => {
    expect(bluesky.validate(rule).diagnostics.map((found) => found.code)).toContain(code);
    expect(corrected(bluesky, rule)).toBe(expected);
  });

  test('every operator of X that does not exist has a hint', () => {
    const known = new Set(bluesky.guide().operators.map(({ name }) => name));
    const without = xDialect.operators.filter(({ name, example }) => {
      const codes = bluesky.validate(example).diagnostics.map(({ code }) => code);
      return codes.includes('unsupported_operator') === known.has(name);
    });
    expect(without).toEqual([]);
  });

  test('messages name Bluesky, never X', () => {
    const wrong = [
      'glacier AND lake',
      'a NOT b',
      'a b c d e f g',
      '“curly”',
      "'single'",
      'a | b',
      'a\\b',
      '!a',
      'a^2',
      '/a/',
      'a~2',
      'x*',
      '"x*"',
      '"C++"',
      '.NET',
      'a,b',
      '--a',
      '–a',
      'a(b)',
      'NEAR a',
      '"…"',
      'glacier -(lake ice)',
      'a'.repeat(5_000),
      'https://a.example',
      'from:x',
      'lang:xx',
      'foo:bar',
      '-(a OR b) ice',
      'the',
      'a OR -b',
      'url:a:b',
    ];
    const messages = wrong.flatMap((rule) =>
      bluesky.validate(rule).diagnostics.map(({ message }) => message),
    );
    expect(messages.length).toBeGreaterThan(wrong.length);
    expect(messages.filter((message) => /\bX\b/.test(message))).toEqual([]);
  });

  test.each([
    ['lake glacier', 'glacier LAKE'],
    ['glacier lang:EN-us', 'lang:en-US glacier'],
    ['glacier lang:iw', 'glacier lang:he'],
    ['from:DID:PLC:ewvi7nxzyoun6zhxrhs64oiz', `from:${dids.ada}`],
    ['@Ada.Example.com', '@ada.example.com'],
    ['glacier -(lake OR ice)', 'glacier -ice -lake'],
    ['#Ice', '#ice'],
  ])('%s and %s have the same canonical text', (left, right) => {
    const { canonical } = bluesky.validate(left);
    expect(canonical).not.toBeNull();
    expect(bluesky.validate(right).canonical).toBe(canonical);
    expect(bluesky.canonical(bluesky.parse(left))).toBe(canonical);
  });

  test('highlights a DID as one value', () => {
    const rule = `from:${dids.ada} -#ice`;
    const tokens = bluesky.parse(rule).tokens.map(({ kind, span }) => [kind, rule.slice(...span)]);
    expect(tokens).toEqual([
      ['field', 'from:'],
      ['value', dids.ada],
      ['negation', '-'],
      ['value', '#ice'],
    ]);
  });
});

test('parses any text without throwing, with valid spans and working fixes', { timeout: 300_000 }, () => {
  const inputs = lengthOf({ always: 700, nightly: 100_000 });
  const summary = fuzz({
    language: bluesky,
    input: xInputs(2026),
    inputs,
    item: payload({ text: 'glacier' }),
  });
  expect(summary.failures).toEqual([]);
  expect(summary.fixesOffered).toBeGreaterThan(0.2 * inputs);
  expect(summary.fixesThatRemove / summary.fixesOffered).toBeGreaterThanOrEqual(0.99);
});

test.each([
  ['glacier -lake', { text: 'A glacier' }, 'holds'],
  ['glacier lang:en', { text: 'A glacier', language: 'en-GB' }, 'holds'],
  ['glacier lang:en', { text: 'A glacier' }, 'undecided'],
  ['glacier lang:en', { text: 'A glacier', language: 'de' }, 'fails'],
  ['#ice', { text: 'Grüße #Ice' }, 'holds'],
  ['url:lake', { text: 'see https://a.example/lake' }, 'holds'],
  ['@ada.example.com', { text: 'Grüße @ada.example.com!' }, 'holds'],
  [`@${dids.bo}`, { text: 'Grüße @ada.example.com!' }, 'undecided'],
  [`from:${dids.ada}`, { text: 'A glacier', author: { id: dids.ada } }, 'holds'],
  [`from:${dids.ada}`, { text: 'A glacier' }, 'undecided'],
  ['glacier', {}, 'undecided'],
  ['glacier', { raw: payload({ text: 'A glacier' }) }, 'holds'],
])('the example of %s: %j %s', (rule, example, outcome) => {
  const must_match = [{ platform: 'bluesky', payload: example }] as const;
  const [judged] = judgeExamples({ bluesky: rule }, { must_match, must_not_match: [] });
  expect(judged?.outcome).toBe(outcome);
});

describe('a query of operators that both platforms have', () => {
  const words = ['glacier', 'lake', 'ice', 'café', '氷河', '🔥'] as const;
  const tags = ['ice', 'fjordlight'] as const;
  const clauses: readonly ((random: Random) => string)[] = [
    (random) => pick(random, words),
    (random) => `"${pick(random, words)} ${pick(random, words)}"`,
    (random) => `"${pick(random, words)} ${pick(random, words)}"~2`,
    (random) => `#${pick(random, tags)}`,
    (random) => `url:"${pick(random, ['news.example', 'news.example/a'])}"`,
  ];
  const filters = ['lang:en', 'lang:de', 'has:links', 'has:hashtags', 'is:reply', 'is:quote'] as const;
  const clause = (random: Random) => pick(random, clauses)(random);
  const rule = (random: Random): string => {
    const or = Array.from({ length: 1 + Math.floor(random() * 3) }, () => clause(random)).join(' OR ');
    const dash = () => (random() < 0.4 ? '-' : '');
    return `(${or}) ${dash()}${pick(random, filters)} ${dash()}${clause(random)}`;
  };
  const posts = (random: Random) => {
    const tag = random() < 0.5 ? pick(random, tags) : null;
    const link = random() < 0.5 ? pick(random, ['https://news.example/a', 'https://news.example/b']) : null;
    const lang = pick(random, ['en', 'de']);
    const type = pick(random, ['none', 'replied_to', 'quoted']);
    const written = Array.from({ length: 4 }, () => pick(random, words)).join(' ');
    const text = [written, tag && `#${tag}`, link].filter((part) => part !== null).join(' ');
    const parent = { uri: postUri(dids.bo), cid: 'b' };
    const onBluesky = payload({
      text,
      langs: [lang],
      facets: [
        ...(tag === null ? [] : [facet(text, `#${tag}`, tagFeature(tag))]),
        ...(link === null ? [] : [facet(text, link, linkFeature(link))]),
      ],
      ...(type === 'replied_to' && { reply: { root: parent, parent } }),
      ...(type === 'quoted' && { embed: { $type: 'app.bsky.embed.record', record: parent } }),
    });
    const onX = {
      data: {
        id: '1',
        text,
        lang,
        author_id: '11',
        entities: {
          hashtags: tag === null ? [] : [{ tag }],
          urls: link === null ? [] : [{ url: link, expanded_url: link }],
        },
        ...(type !== 'none' && { referenced_tweets: [{ type, id: '2' }] }),
      },
      includes: { tweets: [{ id: '2', text: '', entities: {} }] },
    };
    return { onX, onBluesky };
  };

  test('is valid on both and means the same on equivalent posts', () => {
    const random = seeded(5);
    let matches = 0;
    for (let round = 0; round < 2_000; round += 1) {
      const query = rule(random);
      const [left, right] = [x.validate(query), bluesky.validate(query)];
      if (left.canonical !== right.canonical) expect.fail(`${left.canonical} is not ${right.canonical}`);
      if (left.root === null || right.root === null || left.canonical === null) continue;
      const { onX, onBluesky } = posts(random);
      const { state } = bluesky.evaluate(right.root, onBluesky);
      if (x.evaluate(left.root, onX).state !== state)
        expect.fail(`${query} is ${state}: ${JSON.stringify(onBluesky)}`);
      if (state === 'match') matches += 1;
    }
    expect(matches).toBeGreaterThan(100);
  });
});
