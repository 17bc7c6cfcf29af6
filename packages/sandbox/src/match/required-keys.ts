import type { LeafNode, Node } from '@earshot/query';

/** A key that every item has that satisfies the leaf; undefined when there is no such key. */
export type KeyOfLeaf = (leaf: LeafNode) => string | undefined;

/** An item must have at least one of these keys to match; undefined when it may match without any. */
export function requiredKeys(node: Node, keyOf: KeyOfLeaf): readonly string[] | undefined {
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
      return rarest(keySetsOf(node.children, keyOf).filter((keys) => keys !== undefined));
    case 'or': {
      const keySets = keySetsOf(node.children, keyOf);
      return keySets.every((keys) => keys !== undefined) ? keySets.flat() : undefined;
    }
  }
}

function keySetsOf(nodes: readonly Node[], keyOf: KeyOfLeaf): Array<readonly string[] | undefined> {
  return nodes.map((node) => requiredKeys(node, keyOf));
}

/** Any of the sets is correct. Few keys and long words select the fewest candidates. */
function rarest(keySets: ReadonlyArray<readonly string[]>): readonly string[] | undefined {
  const lengthOf = (keys: readonly string[]) => keys[0]?.length ?? 0;
  return keySets.toSorted((one, other) => one.length - other.length || lengthOf(other) - lengthOf(one))[0];
}
