import { languages, leavesOf, requiredKeys } from '@earshot/query';
import { isJsonObject } from '../http/json.ts';
import { foldCase } from '../match/words.ts';
import { keyOf } from './compile-rule.ts';
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
  const plainValue = withoutAccents(value);
  const plain = validate(plainValue, { tier: 'standard' }).root;
  const hasWords = leavesOf(root).some(({ field }) => field === 'keyword');
  const anyOfKeys = plain === null ? undefined : requiredKeys(plain, keyOf);
  return (post) => {
    if (hasWords && refers(post, 'retweeted')) return false;
    const { data, includes: all } = post;
    const includes = refers(post, 'quoted') ? { ...all, tweets: [] } : all;
    const text = JSON.stringify({ data, includes });
    const plainText = withoutAccents(text);
    // Evaluating every post of the archive would take most of a minute.
    if (anyOfKeys !== undefined && !hasAny(plainText, anyOfKeys)) return false;
    if (evaluate(root, { data, includes }).state === 'match') return true;
    if (plain === null || (plainText === text && plainValue === value)) return false;
    return evaluate(plain, JSON.parse(plainText)).state === 'match';
  };
}

/** Also inside of longer words: a post without any of them cannot match. */
function hasAny(text: string, keys: readonly string[]): boolean {
  const folded = foldCase(text);
  return keys.some((key) => folded.includes(key));
}

const asciiOnly = /^[\0-\x7f]*$/;

function withoutAccents(text: string): string {
  if (asciiOnly.test(text)) return text;
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').normalize('NFC');
}

function refers({ data }: XPost, type: string): boolean {
  const references = data['referenced_tweets'];
  return Array.isArray(references) && references.some((one) => isJsonObject(one) && one['type'] === type);
}
