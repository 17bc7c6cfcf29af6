import type { LeafNode, Node } from '../ast.ts';
import { leavesOf } from '../explain.ts';
import { xLanguage } from './language.ts';
import { printNode } from './print.ts';
import { isStreamOnly } from './search.ts';

/** A rule of the stream as a query of X's counts, which are made from the index of search. */
export type CountsQuery =
  | {
      readonly countable: true;
      readonly query: string;
      /** `sample:` as a factor: counts count everything. */
      readonly share: number;
      /** Operators that counts lack and that were left out: the query finds more than the rule. */
      readonly dropped: readonly string[];
      /** What the rule finds and the counts of words leave out. */
      readonly missesReposts: boolean;
      readonly missesQuotes: boolean;
    }
  | { readonly countable: false; readonly why: string };

/** Only what widens the query is left out, so that what is counted is never less than a part of the rule says. */
export function countsQuery(value: string): CountsQuery {
  const { root } = xLanguage.parse(value);
  if (root === null) return { countable: false, why: 'the value is empty' };
  const clauses = root.kind === 'and' ? root.children : [root];
  const sample = clauses.find((clause) => clause.kind === 'leaf' && clause.field === 'sample');
  const rest = clauses.filter((clause) => clause !== sample);
  const dropped = new Set<string>();
  const widened = widen({ kind: 'and', children: rest, span: root.span }, true, dropped);
  if (typeof widened === 'boolean')
    return { countable: false, why: `counts do not know ${[...dropped].join(', ')}` };
  const query = asQuery(widened);
  if (query === null) return { countable: false, why: `nothing is left without ${[...dropped].join(', ')}` };
  const hasWords = leavesOf(widened).some(({ field }) => field === 'keyword');
  if (hasWords && rest.some(isOf('is:retweet')))
    return { countable: false, why: 'counts of words leave out reposts' };
  return {
    countable: true,
    query,
    share: shareOf(sample),
    dropped: [...dropped],
    missesReposts: hasWords && !rest.some(excludes('is:retweet')),
    missesQuotes: hasWords && !rest.some(excludes('is:quote')),
  };
}

/** The text as X would take it; null when it would not, because only filters are left. */
function asQuery(node: Node): string | null {
  return xLanguage.validate(printNode(node)).canonical;
}

/** True: it finds everything, false: nothing. `isWanted` turns with each negation. */
function widen(node: Node, isWanted: boolean, dropped: Set<string>): Node | boolean {
  switch (node.kind) {
    case 'leaf':
      if (!isStreamOnly(node)) return node;
      dropped.add(nameOf(node));
      return isWanted;
    case 'not': {
      const child = widen(node.child, !isWanted, dropped);
      return typeof child === 'boolean' ? !child : { ...node, child };
    }
    case 'and':
    case 'or': {
      // What decides an `and` is a part that finds nothing, an `or` one that finds everything.
      const deciding = node.kind === 'or';
      const children = node.children.map((child) => widen(child, isWanted, dropped));
      if (children.includes(deciding)) return deciding;
      const kept = children.filter((child) => typeof child !== 'boolean');
      const [only] = kept;
      if (only === undefined) return !deciding;
      return kept.length === 1 ? only : { ...node, children: kept };
    }
    case 'never':
      return false;
  }
}

function nameOf({ field, test }: LeafNode): string {
  return test.type === 'phrase' && test.slop > 0 ? 'proximity' : field;
}

function shareOf(sample: Node | undefined): number {
  if (sample?.kind !== 'leaf' || sample.test.type !== 'number') return 1;
  return (sample.test.low ?? 100) / 100;
}

const isOf = (field: string) => (node: Node) => node.kind === 'leaf' && node.field === field;
const excludes = (field: string) => (node: Node) => node.kind === 'not' && isOf(field)(node.child);
