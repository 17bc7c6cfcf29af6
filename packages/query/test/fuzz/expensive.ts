import type { Language } from '../../src/language.ts';
import { createRandom, type Random } from '../firehose/random.ts';

/** A rule and an item; the search looks for the pair whose evaluation takes longest. */
interface Pair {
  readonly rule: string;
  readonly item: unknown;
}

export interface ExpensiveOptions {
  readonly language: Language;
  readonly seeds: readonly Pair[];
  readonly pairs: number;
  readonly seed: number;
}

export interface ExpensiveSummary {
  /** Of the worst single `evaluate` or `explain`; the best of five tries of that pair, so hardly more than its processor time. */
  readonly worstMs: number;
  readonly worst: Pair;
  readonly failures: readonly string[];
}

const keptMax = 40;
const ruleLengthMax = 4096;
const itemLengthMax = 400 * 1024;
const failuresMax = 10;

/** Changes the most expensive pairs found so far, and keeps what became more expensive still. */
export function findExpensive({ language, seeds, pairs, seed }: ExpensiveOptions): ExpensiveSummary {
  const random = createRandom(seed);
  const failures: string[] = [];
  let kept: { readonly pair: Pair; readonly tookMs: number }[] = [];
  for (let round = 0; round < pairs; round += 1) {
    const parent = random.chance(0.1)
      ? random.pick(seeds)
      : random.pick([...kept.map(({ pair }) => pair), ...seeds]);
    const pair = seeds[round] ?? changed(random, parent, random.pick(seeds));
    const bar = kept.length < keptMax ? 0 : (kept.at(-1)?.tookMs ?? 0);
    try {
      const tookMs = measure(language, pair, bar);
      if (tookMs <= bar) continue;
      kept = [...kept, { pair, tookMs }].toSorted((a, b) => b.tookMs - a.tookMs).slice(0, keptMax);
    } catch (error) {
      if (failures.length < failuresMax)
        failures.push(`${String(error)}: ${JSON.stringify(pair).slice(0, 300)}`);
    }
  }
  const again = kept.slice(0, 5).map(({ pair }) => ({ pair, tookMs: measure(language, pair, 0) }));
  const [worst] = again.toSorted((a, b) => b.tookMs - a.tookMs);
  if (worst === undefined) throw new Error('none of the pairs could be evaluated');
  return { worstMs: worst.tookMs, worst: worst.pair, failures };
}

/** The best of five tries, or the first below `bar`: a busy machine must not look like a slow evaluation. */
function measure(language: Language, { rule, item }: Pair, bar: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 5 && best > bar; attempt += 1) {
    // Anew, since an evaluation may keep something with the tree or the item that makes the next one cheaper.
    const { root } = language.parse(rule);
    const copy: unknown = structuredClone(item);
    if (root === null) return 0;
    const evaluated = timeOf(() => language.evaluate(root, copy));
    const again = language.parse(rule).root ?? root;
    const explained = timeOf(() => language.explain(again, structuredClone(item)));
    best = Math.min(best, Math.max(evaluated, explained));
  }
  return best;
}

function timeOf(run: () => unknown): number {
  const startedAt = performance.now();
  run();
  return performance.now() - startedAt;
}

function changed(random: Random, { rule, item }: Pair, other: Pair): Pair {
  return random.chance(0.5)
    ? { rule: changedRule(random, rule, other.rule).slice(0, ruleLengthMax), item }
    : { rule, item: bounded(changedItem(random, item, rule)) ?? item };
}

function bounded(item: unknown): unknown {
  return JSON.stringify(item).length > itemLengthMax ? undefined : item;
}

function changedRule(random: Random, rule: string, other: string): string {
  const at = random.below(rule.length + 1);
  const end = Math.min(rule.length, at + random.below(12));
  const joiner = random.pick([' ', ' OR ', ' AND ']);
  switch (random.below(6)) {
    case 0:
      return `${rule}${joiner}${other}`;
    case 1:
      return Array.from({ length: 1 + random.below(40) }, () => rule).join(joiner);
    case 2:
      return rule.slice(0, at) + rule.slice(at, end).repeat(2 + random.below(200)) + rule.slice(end);
    case 3:
      return rule.slice(0, at) + rule.slice(end);
    case 4:
      return rule.slice(0, at) + random.pick(rulePieces) + rule.slice(at);
    default:
      return `(${rule})${joiner}-(${other})`;
  }
}

const rulePieces = [
  ...Array.from('ab?*.()[]{}~|&"-<>@#:'),
  '{1,300}',
  '(a?)',
  '.*',
  '~9999',
  '氷',
  '😀',
  'e\u0301',
];
const alphabets = [
  'a',
  'ab',
  'a ',
  'a b ',
  '氷',
  '氷 ',
  'é',
  'É ',
  '😀',
  '.',
  "a'",
  '_',
  'a.b',
  'ก็',
  '👩\u200d',
  '#a ',
  '@a ',
];

/** One string of the item, or one of its lists, becomes something else. */
function changedItem(random: Random, value: unknown, rule: string): unknown {
  if (typeof value === 'string') return changedText(random, value, rule);
  if (Array.isArray(value)) {
    if (random.chance(0.3)) {
      const copies = Math.floor(itemLengthMax / (1 + JSON.stringify(value).length));
      return Array.from({ length: 1 + random.below(copies + 1) }, () => value).flat();
    }
    const at = random.below(value.length);
    return value.map((entry: unknown, index) => (index === at ? changedItem(random, entry, rule) : entry));
  }
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.keys(value);
  if (names.length === 0) return value;
  const chosen = random.pick(names);
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [
      name,
      name === chosen ? changedItem(random, entry, rule) : entry,
    ]),
  );
}

function changedText(random: Random, text: string, rule: string): string {
  const at = random.below(text.length + 1);
  switch (random.below(5)) {
    case 0:
      return random.pick(alphabets).repeat(1 + random.below(10 ** (1 + random.below(5))));
    case 1:
      return text.repeat(1 + random.below(20)).slice(0, itemLengthMax / 2);
    case 2:
      return rule.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').repeat(1 + random.below(100));
    case 3:
      return text.slice(0, at) + random.pick(alphabets).repeat(random.below(50)) + text.slice(at);
    default:
      return text.slice(0, at);
  }
}
