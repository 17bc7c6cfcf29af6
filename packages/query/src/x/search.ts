import type { LeafNode } from '../ast.ts';
import { leavesOf } from '../explain.ts';
import { xLanguage } from './language.ts';

/** Recent search accepts shorter queries than the stream accepts rules, except for Enterprise. */
export const searchLengthMax = 512;

/** Operators of the stream that X's recent search does not have. */
const streamOnly = new Set([
  'sample',
  'bio',
  'bio_name',
  'bio_location',
  'url_title',
  'url_description',
  'url_contains',
  'source',
  'min_followers',
  'followers_count',
  'tweets_count',
  'following_count',
  'listed_count',
  'from_affiliate_of',
  'to_affiliate_of',
  'embedding',
  'embedding_threshold',
]);

export type Searchability =
  | {
      readonly searchable: true;
      /** Search looks for words in fewer places than the stream does, and never in retweets. */
      readonly hasWords: boolean;
    }
  | {
      readonly searchable: false;
      readonly why: 'too_long' | 'operator_not_searchable';
      readonly operator: string | null;
    };

/** Whether the value of a rule can be used as a query of search. */
export function searchability(value: string, lengthMax = searchLengthMax): Searchability {
  if (value.length > lengthMax) return { searchable: false, why: 'too_long', operator: null };
  const { root } = xLanguage.parse(value);
  const leaves = root === null ? [] : leavesOf(root);
  const lacking = leaves.find(isStreamOnly);
  if (lacking) return { searchable: false, why: 'operator_not_searchable', operator: lacking.field };
  return { searchable: true, hasWords: leaves.some(({ field }) => field === 'keyword') };
}

/** Proximity has no operator name; recent search does not support it either. */
export function isStreamOnly({ field, test }: LeafNode): boolean {
  return streamOnly.has(field) || (test.type === 'phrase' && test.slop > 0);
}
