import { lengthOf } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import type { Node } from '../../src/ast.ts';
import { xLanguage } from '../../src/x/language.ts';
import { printNode } from '../../src/x/print.ts';
import { pick, type Random, randomClause, randomPayload, randomRule, seeded } from './generate.ts';

const { parse, validate, evaluate } = xLanguage;

function canonicalOf(rule: string): string {
  const { canonical, diagnostics } = validate(rule, { tier: 'enterprise' });
  if (canonical === null)
    throw new Error(`not valid: ${rule}: ${diagnostics.map(({ message }) => message).join(' ')}`);
  return canonical;
}

function rootOf(rule: string): Node {
  const { root } = parse(rule);
  if (root === null) throw new Error(`no tree: ${rule}`);
  return root;
}

describe('the canonical form of an X rule', () => {
  test.each([
    ['lake glacier', 'glacier lake'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['"glacier"', 'glacier'],
    ['GLACIER Lake', 'glacier lake'],
    ['cafe\u0301', 'caf\u00e9'],
    ['a1 OR (b1 OR c1)', 'c1 OR b1 OR a1'],
    ['(glacier) ((lake))', 'glacier lake'],
    ['glacier glacier', 'glacier'],
    ['glacier (glacier OR lake)', 'glacier'],
    ['glacier OR (glacier lake)', 'glacier'],
    ['glacier -(lake OR ice OR -(snow))', 'glacier -(ice OR lake OR -snow)'],
    ['glacier -(lake OR (ice OR snow))', 'glacier -snow -lake -ice'],
    ['retweets_of_user:ACME_sky', 'retweets_of:acme_sky'],
    ['ice has:videos', 'has:video_link ice'],
    ['ice friends_count:0010', 'following_count:10 ice'],
    ['point_radius:[-21.90 64.100 10MI]', 'point_radius:[-21.9 64.1 10mi]'],
    ['glacier\n\tlake', 'glacier lake'],
    ['ice LANG:ZH-cn', 'ice lang:zh-CN'],
    ['"Blue   ICE"~2', '"blue ice"~2'],
    ['"glacier"~4', 'glacier'],
    ['url:example.com', 'url:"example.com"'],
    ['bio:"glaciologist"', 'bio:glaciologist'],
    ['(a1 OR b1)(c1 OR d1)', '(d1 OR c1) (b1 OR a1)'],
  ])('%s and %s print equally', (left, right) => {
    expect(xLanguage.canonical(parse(left))).toBe(xLanguage.canonical(parse(right)));
  });

  test.each([
    ['glacier lake', 'glacier OR lake'],
    ['"blue ice"', 'blue ice'],
    ['"blue ice"', '"ice blue"'],
    ['cafe', 'café'],
    ['#ice', 'ice'],
    ['"blue ice"~2', '"blue ice"~3'],
    ['embedding:"Ice"', 'embedding:"ice"'],
    ['οδος', 'οδοσ'],
  ])('%s and %s stay apart', (left, right) => {
    expect(xLanguage.canonical(parse(left))).not.toBe(xLanguage.canonical(parse(right)));
  });

  test.each([
    ['"say \\"ice\\" now"', '"say \\"ice\\" now"'],
    ['"or" glacier', '"or" glacier'],
    ['"back\\ "', '"back\\ "'],
    ['"👍🏽" ice', '"👍🏽" ice'],
    ['🔥', '🔥'],
  ])('%s keeps its quotes and escapes', (rule, expected) => {
    expect(canonicalOf(rule)).toBe(expected);
    expect(canonicalOf(expected)).toBe(expected);
  });

  test('keeps the written text if the canonical text would exceed the limit', () => {
    const clause = 'friends_count:1 ';
    const written = `ice ${Array.from({ length: 64 }, (_, index) => `-friends_count:${index}`).join('  ')}`;
    expect(clause.length * 64).toBeGreaterThan(900);
    const longest = written.slice(0, written.lastIndexOf('-', 1024)).trim();
    const padded = `${longest} ${'y'.repeat(1024 - longest.length - 1)}`;
    expect(padded).toHaveLength(1024);
    const canonical = canonicalOf(padded);
    expect(canonical.length).toBeLessThanOrEqual(1024);
    expect(canonical).toContain('friends_count');
    expect(canonicalOf(canonical)).toBe(canonical);
  });

  test('is null when the rule has syntax errors', () => {
    expect(xLanguage.canonical(parse('(glacier'))).toBeNull();
  });
});

/** The same tree with the children of every node in another order, and random extra parentheses. */
function shuffled(node: Node, random: Random): string {
  switch (node.kind) {
    case 'leaf':
      return printNode(node);
    case 'not':
      return `-${node.child.kind === 'leaf' ? printNode(node.child) : `(${shuffled(node.child, random)})`}`;
    case 'and':
    case 'or': {
      const order = node.children
        .map((child) => ({ child, key: random() }))
        .toSorted((a, b) => a.key - b.key);
      const parts = order.map(({ child }) => {
        const inner = shuffled(child, random);
        return child.kind === 'or' || child.kind === 'and' || random() < 0.1 ? `(${inner})` : inner;
      });
      return parts.join(node.kind === 'and' ? ' ' : ' OR ');
    }
    case 'never':
      return '';
  }
}

/** Tries again and again; null when every attempt holds, otherwise what the first failing one says. */
function counterexample(rounds: number, attempt: () => string | null): string | null {
  for (let round = 0; round < rounds; round += 1) {
    const found = attempt();
    if (found !== null) return found;
  }
  return null;
}

const rulesWanted = lengthOf({ always: 1_000, nightly: 20_000 });

describe('properties of the canonical form', { timeout: 60_000 }, () => {
  test('printing is stable: the canonical text is valid and its own canonical text', () => {
    const random = seeded(1);
    const found = counterexample(rulesWanted, () => {
      const rule = randomRule(random);
      const canonical = canonicalOf(rule);
      return canonicalOf(canonical) === canonical ? null : rule;
    });
    expect(found).toBeNull();
  });

  test('order, extra parentheses and repetition do not change it', () => {
    const random = seeded(2);
    const found = counterexample(rulesWanted / 4, () => {
      const rule = randomRule(random);
      if (rule.length > 1000) return null;
      const canonical = canonicalOf(rule);
      const equals = [
        `(${rule})`,
        `${rule} OR ${rule}`,
        `(${rule}) (${rule})`,
        shuffled(rootOf(rule), random),
      ];
      return equals.find((same) => canonicalOf(same) !== canonical) ?? null;
    });
    expect(found).toBeNull();
  });

  test('it means the same on every pair of rule and post', () => {
    const random = seeded(3);
    const payloads = Array.from({ length: 200 }, () => randomPayload(random));
    const seen = { match: 0, no_match: 0, unknown: 0 };
    const found = counterexample(rulesWanted / 20, () => {
      const rule = randomRule(random);
      const [written, canonical] = [rootOf(rule), rootOf(canonicalOf(rule))];
      const differs = payloads.find((payload) => {
        const { state } = evaluate(written, payload);
        seen[state] += 1;
        return evaluate(canonical, payload).state !== state;
      });
      return differs === undefined ? null : `${rule} on ${JSON.stringify(differs)}`;
    });
    expect(found).toBeNull();
    expect(Math.min(seen.match, seen.no_match, seen.unknown)).toBeGreaterThan(rulesWanted / 4);
  });
});

describe('metamorphic laws of evaluation', { timeout: 60_000 }, () => {
  const random = seeded(4);
  const payloads = Array.from({ length: 60 }, () => randomPayload(random));

  test('one more clause never adds a match, one more branch never takes one away', () => {
    const found = counterexample(500, () => {
      const rule = randomRule(random);
      const clause = randomClause(random);
      const [root, narrowed, widened] = [
        rootOf(rule),
        rootOf(`(${rule}) ${clause}`),
        rootOf(`${rule} OR ${clause}`),
      ];
      const holds = payloads.every((payload) => {
        const { state } = evaluate(root, payload);
        if (state === 'no_match') return evaluate(narrowed, payload).state === 'no_match';
        return state === 'unknown' || evaluate(widened, payload).state === 'match';
      });
      return holds ? null : `${rule} with ${clause}`;
    });
    expect(found).toBeNull();
  });

  test('a negation inverts every verdict and keeps unknown ones', () => {
    const opposite = { match: 'no_match', no_match: 'match', unknown: 'unknown' } as const;
    const found = counterexample(300, () => {
      const rule = randomRule(random);
      const [root, negation] = [rootOf(rule), rootOf(`-(${rule})`)];
      const holds = payloads.every((payload) => {
        const { state, confidence } = evaluate(root, payload);
        const turned = evaluate(negation, payload);
        return turned.state === opposite[state] && turned.confidence === confidence;
      });
      return holds ? null : rule;
    });
    expect(found).toBeNull();
  });

  test('one more word never ends the match of a rule without negations', () => {
    const words = ['ice', 'nothing', '雪', '🔥'];
    let matches = 0;
    const found = counterexample(5000, () => {
      const rule = randomRule(random)
        .replaceAll('-(', '(')
        .replaceAll(/(^|[\s(])-/g, '$1');
      const root = rootOf(rule);
      const payload = pick(random, payloads);
      if (evaluate(root, payload).state !== 'match') return null;
      matches += 1;
      const longer = withText(payload, (text) => `${text} ${pick(random, words)}`);
      return evaluate(root, longer).state === 'match' ? null : rule;
    });
    expect(found).toBeNull();
    expect(matches).toBeGreaterThan(300);
  });
});

function withText(
  payload: Record<string, unknown>,
  change: (text: string) => string,
): Record<string, unknown> {
  const copy = structuredClone(payload) as { data: { text: string } };
  copy.data.text = change(copy.data.text);
  return copy;
}
