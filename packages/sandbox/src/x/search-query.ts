import { languages, leavesOf } from '@earshot/query';
import { isJsonObject } from '../http/json.ts';
import type { XPost } from './post.ts';

const { evaluate, validate } = languages.x;

/**
 * The rule language with the semantics of search: words are not found in retweets nor in quoted posts, and accents
 * are ignored. Undefined when the query is not valid.
 */
export function compileSearch(value: string): ((post: XPost) => boolean) | undefined {
  const exact = validate(value, { tier: 'standard' });
  const { root } = exact;
  if (exact.canonical === null || root === null) return undefined;
  const plain = validate(withoutAccents(value), { tier: 'standard' }).root;
  const hasWords = leavesOf(root).some(({ field }) => field === 'keyword');
  return (post) => {
    if (hasWords && refers(post, 'retweeted')) return false;
    const seen = refers(post, 'quoted') ? { ...post, includes: { ...post.includes, tweets: [] } } : post;
    if (evaluate(root, seen).state === 'match') return true;
    const { data, includes } = seen;
    const folded: unknown = JSON.parse(withoutAccents(JSON.stringify({ data, includes })));
    return plain !== null && evaluate(plain, folded).state === 'match';
  };
}

function withoutAccents(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').normalize('NFC');
}

function refers({ data }: XPost, type: string): boolean {
  const references = data['referenced_tweets'];
  return Array.isArray(references) && references.some((one) => isJsonObject(one) && one['type'] === type);
}
