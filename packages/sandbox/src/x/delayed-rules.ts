import { createRuleIndex } from '@earshot/query';
import type { XKnobs } from './knobs.ts';
import type { XPost } from './post.ts';
import type { XRule } from './rule-set.ts';

export type DelayedRules = ReturnType<typeof createDelayedRules>;

interface RuleChange {
  readonly added: XRule[];
  readonly removed: XRule[];
}

interface DelayedRulesOptions {
  readonly delayMs: number;
  readonly knobs: Pick<XKnobs, 'deletionLagMs'>;
  readonly isStreaming: () => boolean;
}

/**
 * The rules that the streams apply. A change reaches an open stream after a delay, so a deleted rule still matches
 * for a while (x.md §3.6); a new connection starts with all changes applied, but for a deletion that the knob holds back.
 */
export function createDelayedRules({ delayMs, knobs, isStreaming }: DelayedRulesOptions) {
  const index = createRuleIndex<XRule, XPost>();
  const waiting: RuleChange[] = [];

  const drop = (rules: readonly XRule[]) => {
    for (const rule of rules) index.remove(rule);
  };
  const applyNext = () => {
    const change = waiting.shift();
    for (const rule of change?.added ?? []) index.add(rule, rule.matcher);
    drop(change?.removed ?? []);
  };
  const catchUp = () => {
    while (waiting.length > 0) applyNext();
  };

  return {
    change: ({ added, removed }: RuleChange): void => {
      const isHeldBack = removed.length > 0 && knobs.deletionLagMs > delayMs;
      const change = { added, removed: isHeldBack ? [] : removed };
      if (isHeldBack) setTimeout(() => drop(removed), knobs.deletionLagMs).unref();
      waiting.push(change);
      if (!isStreaming() || delayMs === 0) return catchUp();
      const timer = setTimeout(() => {
        // A new connection may have applied it in the meantime.
        if (waiting.includes(change)) applyNext();
      }, delayMs);
      timer.unref();
    },
    catchUp,
    /** Ordered by id, as in `matching_rules`. */
    matching: (post: XPost): XRule[] =>
      index.matching(post).toSorted((one, other) => compareIds(one.id, other.id)),
  };
}

function compareIds(one: string, other: string): number {
  return one.length - other.length || (one < other ? -1 : 1);
}
