import type { LeafNode, Node } from '../ast.ts';
import { type CostOfKey, requiredKeys } from '../required-keys.ts';
import type { Keyed, Matcher } from '../rule-index.ts';
import { isDense } from '../x/characters.ts';
import { termOf } from '../x/evaluate/verdict.ts';
import { findWords, slopOf } from '../x/evaluate/words.ts';
import { type TextToken, tokenize } from '../x/tokenize.ts';
import { stopWords } from '../x/validate/positive-clause.ts';
import { type BlueskyPost, createPost, decidingPart, factOf, type Part } from './document.ts';

/** A post that is read and split into words once, for all rules. */
export interface SearchablePost extends Keyed {
  readonly words: readonly TextToken[];
  readonly linkWords: readonly (readonly TextToken[])[];
  readonly malformed: BlueskyPost['malformed'];
}

export function readPost(payload: unknown): SearchablePost {
  const { facts, text, links, malformed } = createPost(payload);
  const keys = new Set(facts.keys());
  const words = text === null ? [] : text.tokens();
  addWords(keys, '', words);
  const linkWords = links.map((link) => link.tokens());
  for (const tokens of linkWords) addWords(keys, linkPrefix, tokens);
  return { keys, words, linkWords, malformed };
}

/** A word contains no punctuation, so that no word is a key with a prefix. */
const linkPrefix = 'url:';
const insidePrefix = '~';

function addWords(keys: Set<string>, prefix: string, words: readonly TextToken[]): void {
  for (const { value, dense } of words) {
    keys.add(prefix + value);
    if (dense) addDense(keys, prefix, value);
  }
}

/** A word may be anywhere in a run of a script without spaces. A word of another script is all between two such runs. */
function addDense(keys: Set<string>, prefix: string, run: string): void {
  let start = 0;
  for (let at = 0; at <= run.length; at += 1) {
    if (at < run.length) {
      keys.add(prefix + insidePrefix + run.charAt(at));
      keys.add(prefix + insidePrefix + run.slice(at, at + 2));
      if (!isDense(run.charAt(at))) continue;
    }
    if (at > start) keys.add(prefix + run.slice(start, at));
    start = at + 1;
  }
}

/** Words that a key does not decide. */
interface WordSearch {
  readonly words: readonly TextToken[];
  readonly slop: number;
  readonly isOfLinks: boolean;
}

/** What a leaf asks for: a key that the post has or not, a search, or null for what no post has. */
type Condition = string | WordSearch | null;

/** A negated leaf holds if its condition fails and the post has a readable part to decide that. */
type Negation = Part | 'none' | null;

/**
 * A program is a rule without its tree, which would take ten times the memory. Each leaf has four places: the condition, the
 * negation, and where the next leaf begins when this one holds and when it does not.
 */
type Place = WordSearch | string | number | null;

const placesPerLeaf = 4;
const accept = -1;
const reject = -2;

/**
 * Tests the rarest clause by looking up the rule, and the others from the rarest on. A key that many rules have is frequent in
 * posts, too, as `youtube` in links.
 */
export function compileRule(root: Node, countOf: (key: string) => number): Matcher<SearchablePost> {
  const costOf: CostOfKey = (key) => frequencyOf(key) * (1 + countOf(key));
  const clauses = (root.kind === 'and' ? root.children : [root])
    .map((clause) => withKeys(clause, costOf))
    .toSorted((one, other) => one.cost - other.cost);
  const [rarest, ...others] = clauses;
  const isProved = rarest !== undefined && isDecidedByKeys(rarest.clause);
  const program: Place[] = [];
  const left = isProved ? others : clauses;
  emitAll(
    program,
    left.map(({ clause }) => clause),
    { isNegated: false, accept, reject },
    true,
  );
  // Without the room for more places that a list has after it has grown.
  return new CompiledRule(rarest?.keys, program.slice());
}

interface Clause {
  readonly clause: Node;
  readonly keys: readonly string[] | undefined;
  readonly cost: number;
}

function withKeys(clause: Node, costOf: CostOfKey): Clause {
  const keys = requiredKeys(clause, (leaf) => keyOf(leaf, costOf), costOf);
  const cost = keys?.reduce((sum, key) => sum + costOf(key), 0) ?? Number.MAX_VALUE;
  return { clause, keys, cost };
}

/** Whether every post with one of the required keys satisfies the clause. */
function isDecidedByKeys(clause: Node): boolean {
  if (clause.kind === 'leaf')
    return decidingPart(clause) !== undefined && typeof conditionOf(clause) === 'string';
  return clause.kind === 'or' && clause.children.every(isDecidedByKeys);
}

/** A class, because 100,000 closures take more memory. */
class CompiledRule implements Matcher<SearchablePost> {
  readonly anyOfKeys: readonly string[] | undefined;
  readonly #program: readonly Place[];

  constructor(anyOfKeys: readonly string[] | undefined, program: readonly Place[]) {
    this.anyOfKeys = anyOfKeys;
    this.#program = program;
  }

  test(post: SearchablePost): boolean {
    return run(this.#program, post);
  }
}

interface Context {
  readonly isNegated: boolean;
  readonly accept: number;
  readonly reject: number;
}

/** Pushes negations down to the leaves. */
function emit(program: Place[], node: Node, context: Context): void {
  switch (node.kind) {
    case 'leaf': {
      const part = decidingPart(node);
      // What no part decides is unknown, and so is its negation.
      const [condition, negation] = part === undefined ? [null, null] : [conditionOf(node), part];
      program.push(condition, context.isNegated ? negation : null, context.accept, context.reject);
      return;
    }
    case 'never':
      program.push(null, context.isNegated ? 'none' : null, context.accept, context.reject);
      return;
    case 'not':
      return emit(program, node.child, { ...context, isNegated: !context.isNegated });
    case 'and':
    case 'or':
      return emitAll(program, node.children, context, (node.kind === 'and') !== context.isNegated);
  }
}

function emitAll(program: Place[], nodes: readonly Node[], context: Context, needsAll: boolean): void {
  for (const [index, node] of nodes.entries()) {
    const isLast = index === nodes.length - 1;
    const next = isLast ? null : program.length + placesPerLeaf * countLeaves(node);
    emit(program, node, {
      isNegated: context.isNegated,
      accept: needsAll ? (next ?? context.accept) : context.accept,
      reject: needsAll ? context.reject : (next ?? context.reject),
    });
  }
}

function countLeaves(node: Node): number {
  if (node.kind === 'leaf' || node.kind === 'never') return 1;
  if (node.kind === 'not') return countLeaves(node.child);
  return node.children.reduce((count, child) => count + countLeaves(child), 0);
}

function run(program: readonly Place[], post: SearchablePost): boolean {
  let at = program.length === 0 ? accept : 0;
  while (at >= 0) {
    const negation = program[at + 1] as Negation;
    const isFound = holds(program[at] as Condition, post);
    const isTrue = negation === null ? isFound : !isFound && !post.malformed.has(negation as Part);
    at = program[isTrue ? at + 2 : at + 3] as number;
  }
  return at === accept;
}

function holds(condition: Condition, post: SearchablePost): boolean {
  if (typeof condition === 'string') return post.keys.has(condition);
  if (condition === null) return false;
  const { words, slop, isOfLinks } = condition;
  if (!isOfLinks) return findWords(post.words, words, slop) !== null;
  return post.linkWords.some((tokens) => findWords(tokens, words, slop) !== null);
}

function conditionOf(leaf: LeafNode): Condition {
  const fact = factOf(leaf);
  if (fact !== undefined) return fact;
  const words = tokenize(termOf(leaf));
  const [only] = words;
  if (only === undefined) return null;
  if (words.length === 1 && !only.dense) return keyOfWord(only, prefixOf(leaf));
  return { words, slop: slopOf(leaf), isOfLinks: leaf.field === 'url' };
}

function prefixOf({ field }: LeafNode): string {
  return field === 'url' ? linkPrefix : '';
}

/** Every post that satisfies the leaf has this key. */
function keyOf(leaf: LeafNode, costOf: CostOfKey): string | undefined {
  const fact = factOf(leaf);
  if (fact !== undefined) return fact;
  let best: string | undefined;
  for (const word of tokenize(termOf(leaf))) {
    const key = keyOfWord(word, prefixOf(leaf));
    if (best === undefined || costOf(key) < costOf(best)) best = key;
  }
  return best;
}

function keyOfWord({ value, dense }: TextToken, prefix: string): string {
  return dense ? prefix + insidePrefix + value.slice(0, 2) : prefix + value;
}

/** Roughly how many of 1,000 posts have the key. */
function frequencyOf(key: string): number {
  if (/^(?:has|is|lang):/.test(key)) return 300;
  if (/^(?:[#@]|from:|to:)/.test(key)) return 0.1;
  const isOfLinks = key.startsWith(linkPrefix);
  const word = isOfLinks ? key.slice(linkPrefix.length) : key;
  if (stopWords.has(word)) return 200;
  if (word.startsWith(insidePrefix)) return word.length > 2 ? 5 : 20;
  return (isOfLinks ? 20 : 100) / word.length ** 2;
}
