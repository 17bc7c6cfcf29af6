import { lengthOf } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { createPercolator, languages, type Node } from '../src/index.ts';
import {
  dids,
  payload,
  postOf,
  randomRule,
  randomTerms,
  rootOf,
  withChange,
  withDamage,
} from './bluesky/posts.ts';
import { seeded } from './x/generate.ts';

const { evaluate } = languages.bluesky;

const pairsWanted = lengthOf({ always: 50_000, nightly: 1_000_000 });
const rulesMax = 60;

/** Half of the pairs are of a rule and a post that it matched before one term of the post was changed. */
test('matches exactly the rules that the evaluator matches, while rules come and go', {
  timeout: 300_000,
}, () => {
  const random = seeded(2026);
  const percolator = createPercolator();
  const rules = new Map<string, Node>();
  let [nearMisses, others, matches, lost] = [0, 0, 0, 0];

  const changeRules = (): void => {
    const id = `rule-${Math.floor(random() * rulesMax)}`;
    if (random() < 0.2) {
      rules.delete(id);
      percolator.delete(id);
      return;
    }
    const root = rootOf(randomRule(random));
    rules.set(id, root);
    percolator.set(id, root);
  };
  const compare = (post: unknown): Set<string> => {
    const expected = [...rules]
      .filter(([, root]) => evaluate(root, post).state === 'match')
      .map(([id]) => id);
    const found = percolator.match(post);
    if (found.toSorted().join() !== expected.toSorted().join())
      expect({ post, ids: found.toSorted() }).toEqual({ post, ids: expected.toSorted() });
    matches += found.length;
    return new Set(expected);
  };

  while (nearMisses < pairsWanted / 2 || others < pairsWanted / 2) {
    changeRules();
    expect(percolator.size).toBe(rules.size);
    const terms = randomTerms(random);
    const before = compare(postOf(terms));
    others += rules.size;
    for (let change = 0; change < 4; change += 1) {
      const post = postOf(withChange(random, terms));
      const after = compare(random() < 0.2 ? withDamage(random, post) : post);
      nearMisses += before.size;
      others += rules.size - before.size;
      for (const id of before) if (!after.has(id)) lost += 1;
    }
  }
  // Otherwise the pairs would prove nothing.
  expect(matches).toBeGreaterThan(pairsWanted / 10);
  expect(lost).toBeGreaterThan(pairsWanted / 50);
});

test('a rule of exclusions only is evaluated on every post', () => {
  const percolator = createPercolator();
  percolator.set('none', rootOf('-glacier -is:reply'));
  expect(percolator.match(payload({ text: 'a lake' }))).toEqual(['none']);
  expect(percolator.match(payload({ text: 'a glacier' }))).toEqual([]);
});

test('an id has one rule, the last that was set', () => {
  const percolator = createPercolator();
  percolator.set('one', rootOf('glacier OR lake'));
  percolator.set('one', rootOf('lake OR ice'));
  expect(percolator.match(payload({ text: 'a glacier' }))).toEqual([]);
  expect(percolator.match(payload({ text: 'ice on a lake' }))).toEqual(['one']);
  percolator.delete('one');
  percolator.delete('unknown');
  expect(percolator.match(payload({ text: 'ice on a lake' }))).toEqual([]);
  expect(percolator.size).toBe(0);
});

test.each([
  [undefined],
  [null],
  [5],
  ['post'],
  [[]],
  [{}],
  [{ record: null }],
  [{ did: dids.ada, record: { text: 5, facets: [[]], embed: 'x', langs: {}, reply: [] } }],
])('%j matches nothing and does not throw', (post) => {
  const percolator = createPercolator();
  for (const rule of [
    'glacier',
    '-glacier',
    '#ice',
    '-#ice',
    'lang:en',
    '-is:reply',
    '-has:links',
    '-url:"a"',
  ])
    percolator.set(rule, rootOf(rule));
  const known = ['-is:reply', '-has:links'];
  expect(percolator.match(post).filter((id) => !known.includes(id))).toEqual([]);
});
