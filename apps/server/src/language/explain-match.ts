import type { Platform, Why } from '@earshot/contract';
import type { Explanation, Node } from '@earshot/query';
import { platforms } from '../upstream/platforms.ts';
import { toWireSpan } from './rule-language.ts';

const rememberedMax = 10_000;

export type ParsedRules = ReturnType<typeof createParsedRules>;

/** A cache of parsed rules by their registered value: the same few rules are asked for again and again. */
export function createParsedRules() {
  const remembered = new Map<string, Node | null>();
  return {
    /** Null when the value cannot be parsed, which can only happen to a value from before a change of the language. */
    rootOf(platform: Platform, value: string): Node | null {
      const key = `${platform} ${value}`;
      const known = remembered.get(key);
      if (known !== undefined) return known;
      if (remembered.size >= rememberedMax) remembered.clear();
      const { root } = platforms[platform].language.parse(value);
      remembered.set(key, root);
      return root;
    },
  };
}

const nothingKnown: Why = { verdict: 'unknown', confidence: 'approximate', evidence: [], undecided: [] };

/**
 * Why an item matched, as far as the item shows it. That it matched is the platform's decision (I5): where our own
 * evaluation disagrees, the answer is `unknown`.
 */
export function explainMatch(
  rules: ParsedRules,
  match: { platform: Platform; value: string; raw: unknown },
): Why {
  const root = rules.rootOf(match.platform, match.value);
  if (root === null) return nothingKnown;
  const explanation = platforms[match.platform].language.explain(root, match.raw);
  return explanation.state === 'no_match' ? nothingKnown : toWhy(explanation);
}

function toWhy({ state, confidence, witness, undecided }: Explanation): Why {
  return {
    verdict: state === 'match' ? 'match' : 'unknown',
    confidence,
    evidence: witness.map(({ rule, field, path, range, value }) => ({
      rule_span: toWireSpan(rule),
      field,
      path,
      text_span: range === null ? null : toWireSpan(range),
      text: value,
    })),
    undecided: undecided.map(({ rule, field, why }) => ({ rule_span: toWireSpan(rule), field, why })),
  };
}

/** The operators of a rule because of which our own evaluation finds no match; empty when it finds one, or cannot tell. */
export function unexplainedOperators(
  rules: ParsedRules,
  match: { platform: Platform; value: string; raw: unknown },
): string[] {
  const root = rules.rootOf(match.platform, match.value);
  if (root === null) return [];
  const language = platforms[match.platform].language;
  if (language.evaluate(root, match.raw).state !== 'no_match') return [];
  const { nearMisses } = language.explain(root, match.raw);
  return nearMisses.length === 0 ? ['several'] : fieldsOf(nearMisses);
}

function fieldsOf(leaves: ReadonlyArray<{ readonly field: string }>): string[] {
  return [...new Set(leaves.map(({ field }) => field))];
}
