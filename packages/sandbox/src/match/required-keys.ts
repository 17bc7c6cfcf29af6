import type { LeafNode, Node } from '@earshot/query';

/** A key that every document has on which the leaf holds; undefined when there is none for sure. */
export type KeyOfLeaf = (leaf: LeafNode) => string | undefined;

/** Keys of which a document needs at least one to match; undefined when it may match without any. */
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

/** Each set would do. Few keys are met less often than many, and long words less often than short ones. */
function rarest(keySets: ReadonlyArray<readonly string[]>): readonly string[] | undefined {
  const lengthOf = (keys: readonly string[]) => keys[0]?.length ?? 0;
  return keySets.toSorted((one, other) => one.length - other.length || lengthOf(other) - lengthOf(one))[0];
}
