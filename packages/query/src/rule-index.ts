/** A compiled rule. */
export interface Matcher<Item> {
  test(item: Item): boolean;
  /** An item without any of these keys cannot match; undefined when an item may match without keys. */
  readonly anyOfKeys: readonly string[] | undefined;
}

/** An item with the keys by which rules are looked up. */
export interface Keyed {
  readonly keys: ReadonlySet<string>;
}

/** Finds the matching rules by testing only those that share a key with the item. */
export interface RuleIndex<Rule, Item> {
  readonly size: number;
  /** How many rules are looked up by the key. */
  readonly countOf: (key: string) => number;
  /** Replaces the matcher of a known rule. */
  add(rule: Rule, matcher: Matcher<Item>): void;
  remove(rule: Rule): void;
  matching(item: Item): Rule[];
}

interface Entry<Rule, Item> {
  readonly rule: Rule;
  readonly matcher: Matcher<Item>;
  /** The last search that had the rule as a candidate, so that each tests it once. */
  search: number;
}

export function createRuleIndex<Rule, Item extends Keyed>(): RuleIndex<Rule, Item> {
  type One = Entry<Rule, Item>;
  const entries = new Map<Rule, One>();
  /** Most keys lead to one rule: a set for each would take most of the memory. */
  const byKey = new Map<string, One | Set<One>>();
  const withoutKey = new Set<One>();
  let search = 0;

  const link = (key: string, entry: One): void => {
    const known = byKey.get(key);
    if (known === undefined) byKey.set(key, entry);
    else if (known instanceof Set) known.add(entry);
    else if (known !== entry) byKey.set(key, new Set([known, entry]));
  };
  const unlink = (key: string, entry: One): void => {
    const known = byKey.get(key);
    if (known === entry) byKey.delete(key);
    else if (known instanceof Set && known.delete(entry) && known.size === 0) byKey.delete(key);
  };
  const remove = (rule: Rule): void => {
    const entry = entries.get(rule);
    if (entry === undefined) return;
    for (const key of entry.matcher.anyOfKeys ?? []) unlink(key, entry);
    withoutKey.delete(entry);
    entries.delete(rule);
  };

  return {
    get size() {
      return entries.size;
    },
    countOf: (key) => {
      const known = byKey.get(key);
      return known instanceof Set ? known.size : known === undefined ? 0 : 1;
    },
    add(rule, matcher) {
      remove(rule);
      const entry = { rule, matcher, search: 0 };
      entries.set(rule, entry);
      if (matcher.anyOfKeys === undefined) withoutKey.add(entry);
      else for (const key of matcher.anyOfKeys) link(key, entry);
    },
    remove,
    matching(item) {
      const found: Rule[] = [];
      search += 1;
      const visit = (entry: One): void => {
        if (entry.search === search) return;
        entry.search = search;
        if (entry.matcher.test(item)) found.push(entry.rule);
      };
      for (const entry of withoutKey) visit(entry);
      for (const key of item.keys) {
        const known = byKey.get(key);
        if (known instanceof Set) for (const entry of known) visit(entry);
        else if (known !== undefined) visit(known);
      }
      return found;
    },
  };
}
