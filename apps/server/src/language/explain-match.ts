import type { Platform, Why } from '@earshot/contract';
import type { Explanation } from '@earshot/query';
import { platforms } from '../upstream/platforms.ts';
import type { ParsedRules } from './parsed-rules.ts';
import { toWireSpan } from './rule-language.ts';

const nothingKnown: Why = { verdict: 'unknown', confidence: 'approximate', evidence: [], undecided: [] };

/**
 * Why an item matched, as far as the item shows it. The platform has decided that it did (I5): where our reading
 * differs, the answer is that we do not know.
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

/** The operators of a rule that keep us from seeing what the platform saw; empty when we see it, or cannot tell. */
export function unexplainedOperators(
  rules: ParsedRules,
  match: { platform: Platform; value: string; raw: unknown },
): string[] {
  const root = rules.rootOf(match.platform, match.value);
  if (root === null) return [];
  const language = platforms[match.platform].language;
  if (language.evaluate(root, match.raw).state !== 'no_match') return [];
  const { nearMisses } = language.explain(root, match.raw);
  return nearMisses.length === 0 ? ['several'] : [...new Set(nearMisses.map(({ field }) => field))];
}
