import type { LeafNode, Node } from '../ast.ts';
import { evaluateRule, explainRule, type LeafVerdictOf } from '../explain.ts';
import type { Explanation, LeafVerdict, Verdict } from '../language.ts';
import { hit, miss, unknown, type Where } from '../x/evaluate/verdict.ts';
import { search } from '../x/evaluate/words.ts';
import { type BlueskyPost, createPost, decidingPart, factOf } from './document.ts';

export function evaluate(root: Node, payload: unknown): Verdict {
  const { state, confidence } = evaluateRule(root, reader(payload));
  return { state, confidence };
}

export function explain(root: Node, payload: unknown): Explanation {
  return explainRule(root, reader(payload));
}

function reader(payload: unknown): () => LeafVerdictOf {
  return () => {
    const post = postOf(payload);
    return (leaf) => leafVerdict(leaf, post);
  };
}

let last: { readonly payload: unknown; readonly post: BlueskyPost } | null = null;

/** Keeps the last post, which many rules evaluate one after the other. Posts do not change after delivery. */
function postOf(payload: unknown): BlueskyPost {
  if (last === null || last.payload !== payload) last = { payload, post: createPost(payload) };
  return last.post;
}

/** Earshot evaluates these rules itself, so what a well-formed post lacks is an exact miss. */
function leafVerdict(leaf: LeafNode, post: BlueskyPost): LeafVerdict {
  const part = decidingPart(leaf);
  if (part === undefined) return unknown('no operator of Bluesky');
  const found = find(leaf, post);
  if (found !== null) return found;
  if (post.malformed.has(part)) return unknown(`the ${part} of the post cannot be read`);
  return miss(
    leaf,
    'exact',
    missing[leaf.field] ?? 'the post does not have it',
    ...contradictions(leaf, post),
  );
}

function find(leaf: LeafNode, post: BlueskyPost): LeafVerdict | null {
  const fact = factOf(leaf);
  if (fact === undefined) return search(leaf, textsOf(leaf, post), 'exact');
  const where = post.facts.get(fact);
  return where === undefined ? null : hit(leaf, 'exact', where);
}

function textsOf({ field }: LeafNode, { text, links }: BlueskyPost) {
  if (field === 'url') return links;
  return text === null ? [] : [text];
}

const missing: Readonly<Record<string, string>> = {
  keyword: 'the words are not in the post',
  hashtag: 'the post does not have the hashtag',
  mention: 'the post does not mention the account',
  from: 'another author',
  to: 'the post is no reply to the account',
  url: 'not in a link of the post',
  lang: 'another language',
  'has:links': 'the post has no links',
  'has:images': 'the post has no images',
  'has:mentions': 'the post has no mentions',
  'has:hashtags': 'the post has no hashtags',
  'is:reply': 'the post is no reply',
  'is:quote': 'the post quotes nothing',
};

/** A post has one author and one parent, and names its languages: those show why the leaf misses. */
function contradictions({ field }: LeafNode, { facts }: BlueskyPost): readonly Where[] {
  if (field !== 'from' && field !== 'to' && field !== 'lang') return [];
  return [...facts].filter(([key]) => key.startsWith(`${field}:`)).map(([, where]) => where);
}
