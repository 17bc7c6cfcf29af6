import type { LeafNode, Node } from '../ast.ts';
import { evaluateRule, explainRule, type LeafVerdictOf } from '../explain.ts';
import type { Explanation, LeafVerdict, Verdict } from '../language.ts';
import { createDocument, type XDocument } from './document.ts';
import * as links from './evaluate/links.ts';
import * as people from './evaluate/people.ts';
import * as places from './evaluate/places.ts';
import * as posts from './evaluate/posts.ts';
import * as tags from './evaluate/tags.ts';
import { type LeafEvaluator, unknown } from './evaluate/verdict.ts';
import { keyword } from './evaluate/words.ts';

/** The decidability table of x.md §12. Operators that are not listed are never decided by the item. */
const evaluators: ReadonlyMap<string, LeafEvaluator> = new Map<string, LeafEvaluator>([
  ['keyword', keyword],
  ['hashtag', tags.hashtag],
  ['cashtag', tags.cashtag],
  ['mention', tags.mention],
  ['from', people.from],
  ['to', people.to],
  ['retweets_of', people.retweetsOf],
  ['from_affiliate_of', people.fromAffiliateOf],
  ['to_affiliate_of', people.toAffiliateOf],
  ['bio', people.bio],
  ['bio_name', people.bioName],
  ['bio_location', people.bioLocation],
  ['url', links.url],
  ['url_title', links.urlTitle],
  ['url_description', links.urlDescription],
  ['url_contains', links.urlContains],
  ['context', links.context],
  ['entity', links.entity],
  ['source', links.postingApp],
  ['conversation_id', posts.conversationId],
  ['in_reply_to_tweet_id', posts.inReplyToTweetId],
  ['retweets_of_tweet_id', posts.retweetsOfTweetId],
  ['place', places.place],
  ['place_country', places.placeCountry],
  ['point_radius', places.area],
  ['bounding_box', places.area],
  ['is:retweet', posts.isRetweet],
  ['is:reply', posts.isReply],
  ['is:quote', posts.isQuote],
  ['is:verified', people.isVerified],
  ['is:nullcast', posts.isNullcast],
  ['has:hashtags', tags.hasHashtags],
  ['has:cashtags', tags.hasCashtags],
  ['has:mentions', tags.hasMentions],
  ['has:links', tags.hasLinks],
  ['has:media', tags.hasMedia],
  ['has:images', tags.hasImages],
  ['has:video_link', tags.hasVideo],
  ['has:geo', places.hasGeo],
  ['lang', posts.lang],
  ['min_followers', people.followersCount],
  ['followers_count', people.followersCount],
  ['tweets_count', people.tweetsCount],
  ['following_count', people.followingCount],
  ['listed_count', people.listedCount],
]);

export function evaluate(root: Node, payload: unknown): Verdict {
  const { state, confidence } = evaluateRule(root, reader(payload));
  return { state, confidence };
}

export function explain(root: Node, payload: unknown): Explanation {
  return explainRule(root, reader(payload));
}

function reader(payload: unknown): () => LeafVerdictOf {
  return () => {
    const document = documentOf(payload);
    return (leaf) => leafVerdict(leaf, document);
  };
}

function leafVerdict(leaf: LeafNode, document: XDocument): LeafVerdict {
  const evaluator = evaluators.get(leaf.field);
  return evaluator === undefined ? unknown('only X can decide this') : evaluator(leaf, document);
}

let last: { readonly payload: unknown; readonly document: XDocument } | null = null;

/** Keeps the document of the last item, which many rules evaluate one after the other. Items do not change after delivery. */
function documentOf(payload: unknown): XDocument {
  if (last === null || last.payload !== payload) last = { payload, document: createDocument(payload) };
  return last.document;
}
