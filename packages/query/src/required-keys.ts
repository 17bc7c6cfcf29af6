import type { LeafNode, Node } from './ast.ts';

/** A key that every item has that satisfies the leaf; undefined when there is no such key. */
export type KeyOfLeaf = (leaf: LeafNode) => string | undefined;

/** Compares how many items have a key: less is rarer. */
export type CostOfKey = (key: string) => number;

/** Few keys and long words select the fewest candidates. */
const longer: CostOfKey = (key) => 1 + 1 / (1 + key.length);

/** An item must have at least one of these keys to match; undefined when it may match without any. */
export function requiredKeys(
  node: Node,
  keyOf: KeyOfLeaf,
  costOf: CostOfKey = longer,
): readonly string[] | undefined {
  switch (node.kind) {
    case 'leaf': {
      const key = keyOf(node);
      return key === undefined ? undefined : [key];
    }
    case 'not':
      return undefined;
    case 'never':
      return [];
    case 'and':
      return rarest(
        node.children.map((child) => requiredKeys(child, keyOf, costOf)).filter((keys) => keys !== undefined),
        costOf,
      );
    case 'or': {
      const all = new Set<string>();
      for (const child of node.children) {
        const keys = requiredKeys(child, keyOf, costOf);
        if (keys === undefined) return undefined;
        for (const key of keys) all.add(key);
      }
      return [...all];
    }
  }
}

/** Any of the sets is correct. */
function rarest(keySets: ReadonlyArray<readonly string[]>, costOf: CostOfKey): readonly string[] | undefined {
  let best: readonly string[] | undefined;
  let bestCost = Number.POSITIVE_INFINITY;
  for (const keys of keySets) {
    const cost = keys.reduce((sum, key) => sum + costOf(key), 0);
    if (cost < bestCost) [best, bestCost] = [keys, cost];
  }
  return best;
}
