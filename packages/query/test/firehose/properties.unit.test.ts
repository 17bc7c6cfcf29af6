import { lengthOf } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import type { Node } from '../../src/ast.ts';
import { createPageMatcher, evaluate, explain } from '../../src/firehose/evaluate.ts';
import { firehoseLanguage } from '../../src/firehose/language.ts';
import type { Evidence } from '../../src/language.ts';
import { createRandom, type Page, randomPage, randomRule } from './random.ts';

const random = createRandom(7);
const pages = Array.from({ length: 100 }, () => randomPage(random));
const matchers = pages.map(createPageMatcher);

interface ReadableRule {
  readonly rule: string;
  readonly root: Node;
}

/** Random rules without syntax errors that can match something. */
function readableRules(count: number, seed: number): ReadableRule[] {
  const rules: ReadableRule[] = [];
  const source = createRandom(seed);
  while (rules.length < count) {
    const rule = randomRule(source);
    const root = rootOf(rule);
    if (root !== null && root.kind !== 'never') rules.push({ rule, root });
  }
  return rules;
}

function rootOf(rule: string): Node | null {
  const { root, diagnostics } = firehoseLanguage.parse(rule);
  return diagnostics.some(({ severity }) => severity === 'error') ? null : root;
}

function verdicts(root: Node | null): string {
  return matchers.map((matches) => (root !== null && matches(root) ? '1' : '0')).join('');
}

/** The page as a delivered match, with its whole diff. */
function delivered(page: Page): { matched_at: string; document: Record<string, unknown> } {
  const { chunks, ...document } = page;
  return { matched_at: '2026-06-01T12:00:00Z', document: { ...document, diff: { chunks } } };
}

const pairsWanted = lengthOf({ always: 8_000, nightly: 200_000 });
const explained = lengthOf({ always: 200, nightly: 600 });

describe('the canonical text', () => {
  test('means the same on every pair of rule and page, and is its own canonical text', {
    timeout: 120_000,
  }, () => {
    let pairs = 0;
    for (const { rule, root } of readableRules(Math.ceil(pairsWanted / 95), 11)) {
      const canonical = firehoseLanguage.canonical(firehoseLanguage.parse(rule));
      // Without a canonical text a part that can match nothing makes the whole one that can match nothing.
      const again = canonical === null ? null : firehoseLanguage.parse(canonical);
      expect(verdicts(again?.root ?? null), `for ${rule}`).toBe(verdicts(root));
      expect(again?.diagnostics ?? [], `for ${rule}`).toEqual([]);
      expect(again && firehoseLanguage.canonical(again), `for ${rule}`).toBe(canonical);
      pairs += pages.length;
    }
    expect(pairs).toBeGreaterThanOrEqual(pairsWanted);
  });

  test.each([
    ['solar AND wind', 'wind AND solar'],
    ['solar OR wind', 'wind solar'],
    ['added:solar', '("solar")'],
    ['SOLAR', 'solar'],
    ['solar AND (wind AND hydro)', 'hydro AND wind AND solar AND solar'],
    ['solar AND NOT wind AND NOT hydro', 'solar AND NOT (hydro OR wind)'],
    ['solar OR (solar AND wind)', 'solar'],
    ['"UI/UX"', '"ui/ux,"'],
    ['"heat,  pump"', '"heat, pump"'],
    ['solar AND recent:24h', 'recent:1d AND solar'],
    ['url:http**', 'url:http*'],
    ['title:(heat OR pump)', 'title:pump OR title:heat'],
  ])('of %s is that of %s', (left, right) => {
    const canonical = firehoseLanguage.validate(left).canonical;
    expect(canonical).not.toBeNull();
    expect(firehoseLanguage.validate(right).canonical).toBe(canonical);
  });

  test('distinguishes rules that differ only under assumptions about stop words', () => {
    const [left, right] = ['"state of the art"', '"state in an art"'].map((rule) =>
      firehoseLanguage.validate(rule),
    );
    expect(left?.canonical).not.toBe(right?.canonical);
  });

  test('puts recent last and every exclusion into one group', () => {
    const rule = 'recent:7d AND NOT title:jobs AND (solar OR wind) AND NOT title:careers';
    expect(firehoseLanguage.validate(rule).canonical).toBe(
      '(added:"solar" OR added:"wind") AND NOT (title:"careers" OR title:"jobs") AND recent:7d',
    );
  });

  test('takes a shorter form when the full one would be too long for the platform', () => {
    const rule = Array.from({ length: 300 }, (_, index) => `word${index}`).join(' OR ');
    const { canonical } = firehoseLanguage.validate(rule);
    expect(canonical?.length).toBeLessThanOrEqual(4000);
    expect(firehoseLanguage.validate(canonical ?? '').canonical).toBe(canonical);
  });
});

describe('laws of the language', () => {
  const rules = readableRules(300, 13);
  const laws: readonly (readonly [
    name: string,
    law: (rule: string, other: string) => readonly [string, string],
  ])[] = [
    ['parentheses change nothing', (rule) => [rule, `(${rule})`]],
    ['a rule OR itself is the rule', (rule) => [rule, `(${rule}) OR (${rule})`]],
    ['a rule AND itself is the rule', (rule) => [rule, `(${rule}) AND (${rule})`]],
    ['order does not matter to OR', (rule, other) => [`(${rule}) OR (${other})`, `(${other}) OR (${rule})`]],
    [
      'order does not matter to AND',
      (rule, other) => [`(${rule}) AND (${other})`, `(${other}) AND (${rule})`],
    ],
    [
      'De Morgan holds below a positive clause',
      (rule, other) => [
        `grid AND NOT ((${rule}) OR (${other}))`,
        `grid AND NOT (${rule}) AND NOT (${other})`,
      ],
    ],
  ];

  test.each(laws)('%s', (_, law) => {
    rules.forEach(({ rule }, index) => {
      const other = rules[(index + 1) % rules.length]?.rule ?? rule;
      const [left, right] = law(rule, other);
      expect(verdicts(rootOf(left)), `${left}  and  ${right}`).toBe(verdicts(rootOf(right)));
    });
  });

  test('one more required clause never adds a match', () => {
    rules.forEach(({ rule, root }, index) => {
      const other = rules[(index + 1) % rules.length]?.rule ?? rule;
      const narrower = verdicts(rootOf(`(${rule}) AND (${other})`));
      const wider = verdicts(root);
      expect(
        Array.from(narrower).every((bit, at) => bit === '0' || wider[at] === '1'),
        `(${rule}) AND (${other})`,
      ).toBe(true);
    });
  });

  test('packing whole rules in parentheses with OR matches what any of them matches', () => {
    rules.forEach(({ rule, root }, index) => {
      const other = rules[(index + 1) % rules.length];
      const packed = verdicts(rootOf(`(${rule}) OR (${other?.rule ?? rule})`));
      const [left, right] = [verdicts(root), verdicts(other?.root ?? root)];
      expect(packed).toBe(
        Array.from(left)
          .map((bit, at) => (bit === '1' || right[at] === '1' ? '1' : '0'))
          .join(''),
      );
    });
  });
});

describe('clauses decided by a delivered match', () => {
  test('never contradicts the platform’s verdict on the whole page', () => {
    let decided = 0;
    for (const { rule, root } of readableRules(400, 17)) {
      pages.forEach((page, index) => {
        const { state, confidence } = evaluate(root, delivered(page));
        // Which parent domains count, and how words are split, is what `approximate` stands for.
        if (state === 'unknown' || confidence === 'approximate') return;
        decided += 1;
        expect(state, `${rule} on ${JSON.stringify(page)}`).toBe(
          matchers[index]?.(root) === true ? 'match' : 'no_match',
        );
      });
    }
    expect(decided).toBeGreaterThan(10_000);
  });

  test('is explained with the same verdict, and blanking all but the evidence keeps the match', {
    timeout: 60_000,
  }, () => {
    let matches = 0;
    for (const { rule, root } of readableRules(explained, 19)) {
      for (const page of pages.slice(0, 40)) {
        const payload = delivered(page);
        const explanation = explain(root, payload);
        expect({ state: explanation.state, confidence: explanation.confidence }, `for ${rule}`).toEqual(
          evaluate(root, payload),
        );
        if (explanation.state !== 'match') continue;
        matches += 1;
        const kept = blankedBut(explanation.witness, payload);
        expect(evaluate(root, kept).state, `${rule} on ${JSON.stringify(kept)}`).toBe('match');
      }
    }
    expect(matches).toBeGreaterThan(1_000);
  });
});

/** Every text of the payload with its characters blanked outside the evidence; values that are no evidence stay. */
function blankedBut(witness: readonly Evidence[], payload: ReturnType<typeof delivered>): unknown {
  const blank = (text: string, path: string): string => {
    const ranges = witness.filter((evidence) => evidence.path === path).map(({ range }) => range);
    if (ranges.some((range) => range === null)) return text;
    return Array.from({ length: text.length }, (__, at) =>
      ranges.some((range) => range !== null && at >= range[0] && at < range[1]) ? text.charAt(at) : ' ',
    ).join('');
  };
  const { document } = payload;
  const chunks = (document['diff'] as { chunks: { typ: string; text: string }[] }).chunks;
  const title = document['title'];
  return {
    ...payload,
    document: {
      ...document,
      ...(typeof title === 'string' ? { title: blank(title, 'document.title') } : {}),
      diff: {
        chunks: chunks.map((chunk, index) => ({
          ...chunk,
          text: blank(chunk.text, `document.diff.chunks[${index}].text`),
        })),
      },
    },
  };
}
