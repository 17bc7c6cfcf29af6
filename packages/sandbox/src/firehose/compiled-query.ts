import type { LeafNode, Node, Test } from '@earshot/query';

/** The rule as Lucene prints a parsed query: `+` is required, `-` prohibited, no sign optional (firehose.md §5). */
export function printCompiled(node: Node): string {
  switch (node.kind) {
    case 'leaf':
      return printLeaf(node);
    case 'or':
      return node.children.map(printClause).join(' ');
    case 'and':
      return node.children
        .map((child) => (child.kind === 'not' ? `-${printClause(child.child)}` : `+${printClause(child)}`))
        .join(' ');
    case 'not':
      return `-${printClause(node.child)}`;
    case 'never':
      return '';
  }
}

function printClause(node: Node): string {
  return node.kind === 'leaf' ? printLeaf(node) : `(${printCompiled(node)})`;
}

function printLeaf({ field, test }: LeafNode): string {
  return `${field}:${printTest(test)}`;
}

function printTest(test: Test): string {
  switch (test.type) {
    case 'term':
    case 'opaque':
      return test.value;
    case 'phrase':
      return `"${test.words.join(' ')}"${test.slop > 0 ? `~${test.slop}` : ''}`;
    case 'prefix':
      return `${test.value}*`;
    case 'wildcard':
      return test.pattern;
    case 'regex':
      return `/${test.source}/`;
    case 'fuzzy':
      return `${test.value}~${test.distance}`;
    case 'range': {
      const bounds = `${test.low ?? '*'} TO ${test.high ?? '*'}`;
      return `${test.includeLow ? '[' : '{'}${bounds}${test.includeHigh ? ']' : '}'}`;
    }
    // Only X rules have these.
    case 'number':
    case 'circle':
    case 'box':
    case 'flag':
      return '';
  }
}
