import type { LeafNode, Node } from './ast.ts';
import { type Diagnostic, suspicious, warning } from './diagnostics.ts';

/**
 * How far a clause narrows a rule: 0 a filter that most items pass, 1 one that most do not, 2 one word or tag, 3 what
 * names its subject.
 */
export type Weight = 0 | 1 | 2 | 3;

const namesSubject = 3;
const oneWord = 2;

/** A rule is as broad as its broadest branch. An exclusion lets nearly everything through. */
function weightOf(node: Node, leafWeight: (leaf: LeafNode) => Weight): number {
  switch (node.kind) {
    case 'leaf':
      return leafWeight(node);
    case 'and': {
      let sum = 0;
      for (const child of node.children) sum += weightOf(child, leafWeight);
      return sum;
    }
    case 'or': {
      let least = namesSubject;
      for (const child of node.children) least = Math.min(least, weightOf(child, leafWeight));
      return least;
    }
    case 'not':
      return 0;
    case 'never':
      return namesSubject;
  }
}

export interface BreadthWords {
  readonly everything: string;
  readonly oneWord: string;
}

/** Every delivered item is billed, so a rule that matches very much gets a warning, and one without a subject is suspicious. */
export function broadRule(
  root: Node,
  leafWeight: (leaf: LeafNode) => Weight,
  words: BreadthWords,
): Diagnostic | null {
  const weight = weightOf(root, leafWeight);
  if (weight >= namesSubject) return null;
  return weight >= oneWord
    ? warning('broad_rule', words.oneWord, root.span)
    : suspicious('broad_rule', words.everything, root.span);
}
