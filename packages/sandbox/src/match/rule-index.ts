import type { Keyed, Matcher } from './matcher.ts';

/** Finds the rules that match without trying each one: only those that share a key with the document run. */
export interface RuleIndex<Rule, Document> {
  add(rule: Rule, matcher: Matcher<Document>): void;
  remove(rule: Rule): void;
  matching(document: Document): Rule[];
}

export function createRuleIndex<Rule, Document extends Keyed>(): RuleIndex<Rule, Document> {
  const matchers = new Map<Rule, Matcher<Document>>();
  const byKey = new Map<string, Set<Rule>>();
  const withoutKey = new Set<Rule>();

  const candidates = (document: Document) => {
    const found = new Set(withoutKey);
    for (const key of document.keys) for (const rule of byKey.get(key) ?? []) found.add(rule);
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
    matching: (document) => [...candidates(document)].filter((rule) => matchers.get(rule)?.test(document)),
  };
}
