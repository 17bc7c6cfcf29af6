import { lengthOf } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import type { Evidence } from '../../src/language.ts';
import { xLanguage } from '../../src/x/language.ts';
import { randomPayload, randomRule, seeded } from './generate.ts';

const { parse, evaluate, explain } = xLanguage;

function explained(rule: string, payload: unknown) {
  const { root } = parse(rule);
  if (root === null) throw new Error(`no tree: ${rule}`);
  return explain(root, payload);
}

const payload = {
  data: {
    id: '1',
    text: 'Blue ICE on the glacier #fjordlight',
    lang: 'en',
    author_id: '11',
    entities: { hashtags: [{ tag: 'fjordlight' }] },
  },
  includes: { users: [{ id: '11', username: 'acme_sky' }] },
};

describe('explaining a match', () => {
  test('evidence names the field, the place in the text and the place in the rule', () => {
    const rule = '"blue ice" (lake OR #fjordlight) lang:en';
    expect(explained(rule, payload)).toMatchObject({
      state: 'match',
      witness: [
        { field: 'keyword', path: 'data.text', range: [0, 8], value: 'Blue ICE', rule: [0, 10] },
        { field: 'hashtag', path: 'data.entities.hashtags[0].tag', range: null, value: 'fjordlight' },
        { field: 'lang', path: 'data.lang', value: 'en' },
      ],
    });
  });

  test('one true branch of an OR is enough', () => {
    const { witness } = explained('(glacier ice) OR ice OR (blue glacier)', payload);
    expect(witness).toMatchObject([{ value: 'ICE' }]);
  });

  test('ranges are UTF-16 offsets of the original text', () => {
    const text = '🔥🔥 Tom &amp; cafe\u0301 雪氷河だ';
    const post = { data: { text } };
    const slice = (rule: string): string | undefined => {
      const range = explained(rule, post).witness[0]?.range;
      return range == null ? undefined : text.slice(...range);
    };
    expect(slice('café')).toBe('cafe\u0301');
    expect(slice('"tom café"')).toBe('Tom &amp; cafe\u0301');
    expect(slice('氷河')).toBe('氷河');
    expect(slice('🔥')).toBe('🔥');
  });

  test('shows an exclusion with the text that would end the match and the value that confirms it', () => {
    const { breakers, witness } = explained('glacier -lake -lang:de', payload);
    expect(breakers).toMatchObject([
      { rule: [9, 13], change: 'appear' },
      { rule: [15, 22], change: 'appear', why: 'the language is en' },
    ]);
    expect(witness).toMatchObject([{ value: 'glacier' }, { path: 'data.lang', value: 'en' }]);
  });
});

describe('explaining a miss', () => {
  test('lists each leaf that alone would make it match', () => {
    expect(explained('glacier lang:de', payload).nearMisses).toMatchObject([
      { rule: [8, 15], change: 'appear', why: 'the language is en' },
    ]);
    expect(explained('glacier lake lang:de', payload).nearMisses).toEqual([]);
    expect(explained('(lake OR snow) glacier', payload).nearMisses).toMatchObject([
      { rule: [1, 5] },
      { rule: [9, 13] },
    ]);
  });

  test('an excluded clause that is present would have to disappear', () => {
    expect(explained('glacier -ice', payload).nearMisses).toMatchObject([
      { rule: [9, 12], change: 'disappear' },
    ]);
  });

  test('a repeated clause changes as one', () => {
    expect(explained('lake (lake OR snow)', payload).nearMisses).toMatchObject([
      { rule: [0, 4], change: 'appear' },
    ]);
  });

  test('among undecided branches, shows one with evidence', () => {
    expect(explained('(glacier sample:10) OR (lake sample:10) OR min_likes:9', payload)).toMatchObject({
      state: 'unknown',
      witness: [{ value: 'glacier' }],
      undecided: [{ field: 'sample' }, { field: 'min_likes' }],
    });
  });
});

/** Everything that a leaf can look at goes, except what the witness names; the shape of the item stays. */
function blanked(item: unknown, witness: readonly Evidence[]): unknown {
  const kept = new Map<string, readonly (readonly [number, number] | null)[]>();
  for (const { path, range } of witness) kept.set(path, [...(kept.get(path) ?? []), range]);
  const isKept = (path: string): boolean =>
    [...kept.keys()].some((other) => other.startsWith(path) || path.startsWith(other));
  const visit = (value: unknown, path: string): unknown => {
    if (typeof value === 'string' && prose.test(path)) return blankText(value, kept.get(path) ?? []);
    if (Array.isArray(value))
      return value.map((entry, index) =>
        droppable.test(path) && !isKept(`${path}[${index}]`) ? {} : visit(entry, `${path}[${index}]`),
      );
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, inner]) => {
        const at = path === '' ? name : `${path}.${name}`;
        return removable.has(name) && !isKept(at) ? [] : [[name, visit(inner, at)]];
      }),
    );
  };
  return visit(item, '');
}

const prose = /\.(text|description|expanded_url|url|name)$/;
const droppable = /\.(hashtags|mentions|urls|media_keys)$/;
const removable = new Set([
  'lang',
  'username',
  'public_metrics',
  'verified',
  'country_code',
  'context_annotations',
  'description',
  'coordinates',
]);

/** Words become other words, so that what stood apart does not move together. */
function blankText(text: string, ranges: readonly (readonly [number, number] | null)[]): string {
  if (ranges.includes(null)) return text;
  const inside = (at: number): boolean =>
    ranges.some((range) => range !== null && at >= range[0] && at < range[1]);
  return Array.from({ length: text.length }, (_, at) => {
    const unit = text.charAt(at);
    return inside(at) || /[\p{P}\p{Z}]/u.test(unit) ? unit : '\uE000';
  }).join('');
}

const rounds = lengthOf({ always: 2_000, nightly: 30_000 });

test('the verdict equals the evaluator’s, and the witness alone keeps the match', {
  timeout: 120_000,
}, () => {
  const random = seeded(11);
  let matches = 0;
  for (let round = 0; round < rounds; round += 1) {
    const rule = randomRule(random);
    const item = randomPayload(random);
    const { root } = parse(rule);
    if (root === null) throw new Error(rule);
    const { state, confidence, witness } = explain(root, item);
    const verdict = evaluate(root, item);
    if (verdict.state !== state || verdict.confidence !== confidence)
      throw new Error(`${rule} is explained otherwise`);
    if (state !== 'match') continue;
    matches += 1;
    const rest = blanked(item, witness);
    if (evaluate(root, rest).state !== 'match')
      throw new Error(
        `${rule}\n${JSON.stringify(item)}\n${JSON.stringify(rest)}\n${JSON.stringify(witness)}`,
      );
  }
  expect(matches).toBeGreaterThan(0.1 * rounds);
});
