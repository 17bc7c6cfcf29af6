import type { LeafNode, Node, Test } from '../ast.ts';
import { isPlainWord } from './characters.ts';
import { radiusText } from './leaf.ts';

/** The tree as rule text, in the order of the tree. */
export function printNode(node: Node): string {
  switch (node.kind) {
    case 'leaf':
      return printLeaf(node);
    case 'not':
      return node.child.kind === 'leaf' ? `-${printLeaf(node.child)}` : `-(${printNode(node.child)})`;
    case 'and':
      return node.children
        .map((child) =>
          child.kind === 'or' || child.kind === 'and' ? `(${printNode(child)})` : printNode(child),
        )
        .join(' ');
    case 'or':
      return node.children
        .map((child) => (child.kind === 'or' ? `(${printNode(child)})` : printNode(child)))
        .join(' OR ');
    case 'never':
      return '';
  }
}

const sigils: Readonly<Record<string, string>> = { hashtag: '#', cashtag: '$', mention: '@' };

export function printLeaf({ field, test }: LeafNode): string {
  if (field === 'keyword') return printText(test, isReserved);
  if (test.type === 'flag') return field;
  const sigil = sigils[field];
  if (sigil !== undefined && test.type === 'term') return sigil + test.value;
  const name = field.endsWith(':') ? field : `${field}:`;
  return name + printValue(field, test);
}

function printValue(field: string, test: Test): string {
  switch (test.type) {
    case 'term':
      return verbatimFields.has(field) ? test.value : printText(test, () => field === 'entity');
    case 'phrase':
      return printText(test, () => alwaysQuoted.has(field));
    case 'number':
      return test.high === null ? String(test.low ?? 0) : `${test.low ?? 0}..${test.high}`;
    case 'circle':
      return `[${test.longitude} ${test.latitude} ${radiusText(test.radiusKm)}]`;
    case 'box':
      return `[${test.west} ${test.south} ${test.east} ${test.north}]`;
    case 'opaque':
      return test.value;
    case 'flag':
    case 'prefix':
    case 'wildcard':
    case 'regex':
    case 'fuzzy':
    case 'range':
      return '';
  }
}

/** Values of these kinds are codes and ids, printed as they are. */
const verbatimFields: ReadonlySet<string> = new Set([
  'from',
  'to',
  'retweets_of',
  'from_affiliate_of',
  'to_affiliate_of',
  'conversation_id',
  'in_reply_to_tweet_id',
  'retweets_of_tweet_id',
  'lang',
  'place_country',
  'context',
]);
const alwaysQuoted: ReadonlySet<string> = new Set(['entity', 'embedding']);

/** X refuses a bare `and`, and a bare `or` is easily misread: both are quoted. */
function isReserved(word: string): boolean {
  return word === 'and' || word === 'or';
}

/** Quotes only where X needs them; one plain word in quotes means the same as the word. */
function printText(test: Test, mustQuote: (word: string) => boolean): string {
  if (test.type !== 'term' && test.type !== 'phrase') return '';
  const words = test.type === 'term' ? [test.value] : test.words;
  const [only = ''] = words;
  const single = words.length === 1;
  if (single && !mustQuote(only) && isPlainWord(only)) return only;
  const inner = words.join(' ').replaceAll('"', '\\"');
  const slop = test.type === 'phrase' && test.slop > 0 && words.length > 1 ? `~${test.slop}` : '';
  return `"${inner}${inner.endsWith('\\') ? ' ' : ''}"${slop}`;
}
