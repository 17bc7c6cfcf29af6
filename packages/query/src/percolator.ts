import type { Node } from './ast.ts';
import { compileRule, readPost, type SearchablePost } from './bluesky/matcher.ts';
import { createRuleIndex } from './rule-index.ts';

/** Finds all rules that match a post, without evaluating the others. */
export interface Percolator {
  readonly size: number;
  /** Replaces the rule of a known id. */
  set(id: string, root: Node): void;
  delete(id: string): void;
  /** The ids of the rules for which `evaluate` answers `match`, in no order. `payload` is a post as Bluesky delivers it. */
  match(payload: unknown): string[];
}

export function createPercolator(): Percolator {
  const index = createRuleIndex<string, SearchablePost>();
  return {
    get size() {
      return index.size;
    },
    set: (id, root) => index.add(id, compileRule(root, index.countOf)),
    delete: (id) => index.remove(id),
    match: (payload) => index.matching(readPost(payload)),
  };
}
