import type { Keyed, Matcher } from './matcher.ts';

/** Finds the matching rules by testing only those that share a key with the item. */
export interface RuleIndex<Rule, Item> {
  add(rule: Rule, matcher: Matcher<Item>): void;
  remove(rule: Rule): void;
  matching(item: Item): Rule[];
}

export function createRuleIndex<Rule, Item extends Keyed>(): RuleIndex<Rule, Item> {
  const matchers = new Map<Rule, Matcher<Item>>();
  const byKey = new Map<string, Set<Rule>>();
  const withoutKey = new Set<Rule>();

  const candidates = (item: Item) => {
    const found = new Set(withoutKey);
    for (const key of item.keys) for (const rule of byKey.get(key) ?? []) found.add(rule);
    return found;
  };

  return {
    add(rule, matcher) {
      matchers.set(rule, matcher);
      if (matcher.anyOfKeys === undefined) withoutKey.add(rule);
      for (const key of matcher.anyOfKeys ?? []) {
        const rules = byKey.get(key) ?? new Set();
        byKey.set(key, rules.add(rule));
      }
    },
    remove(rule) {
      for (const key of matchers.get(rule)?.anyOfKeys ?? []) {
        const rules = byKey.get(key);
        rules?.delete(rule);
        if (rules?.size === 0) byKey.delete(key);
      }
      withoutKey.delete(rule);
      matchers.delete(rule);
    },
    matching: (item) => [...candidates(item)].filter((rule) => matchers.get(rule)?.test(item)),
  };
}
