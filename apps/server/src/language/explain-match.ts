import type { Platform, Why } from '@earshot/contract';
import type { Explanation, Node } from '@earshot/query';
import { platforms } from '../upstream/platforms.ts';
import { toWireSpan } from './rule-language.ts';

const rememberedMax = 10_000;

export type ParsedRules = ReturnType<typeof createParsedRules>;

/** A cache of parsed rules by their registered query: the same few rules are requested again and again. */
export function createParsedRules() {
  const remembered = new Map<string, Node | null>();
  return {
    /** Null if the query cannot be parsed. That happens only to a query from before a change of the language. */
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
 * Why an item matched, as far as the item shows it. The platform decides that it matched (I5): where Earshot's own evaluation
 * disagrees, the answer is `unknown`.
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

/** The operators because of which Earshot's own evaluation finds no match; empty if it finds one, or cannot decide. */
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
