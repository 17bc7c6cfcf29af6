import { field, references, textOf } from '../document.ts';
import { hit, type LeafEvaluator, miss, termOf, unknown } from './verdict.ts';

export const isRetweet: LeafEvaluator = (leaf, document) => {
  const [id] = references(document.own, 'retweeted');
  return id === undefined
    ? miss(leaf, 'exact', 'the post is no retweet')
    : hit(leaf, 'exact', { path: 'data.referenced_tweets', value: id });
};

export const isQuote: LeafEvaluator = (leaf, document) => {
  const [id] = references(document.own, 'quoted');
  if (id !== undefined) return hit(leaf, 'exact', { path: 'data.referenced_tweets', value: id });
  if (document.retweeted === undefined) return unknown('the retweeted post was not delivered');
  const [inner] = document.retweeted === null ? [] : references(document.retweeted, 'quoted');
  if (inner === undefined || document.retweeted === null)
    return miss(leaf, 'exact', 'the post quotes nothing');
  return hit(leaf, 'approximate', { path: `${document.retweeted.path}.referenced_tweets`, value: inner });
};

/** On the stream a retweet or quote of a reply counts as a reply too. */
export const isReply: LeafEvaluator = (leaf, document) => {
  const [id] = references(document.own, 'replied_to');
  if (id !== undefined) return hit(leaf, 'exact', { path: 'data.referenced_tweets', value: id });
  const user = textOf(document.own.data['in_reply_to_user_id']);
  if (user !== undefined) return hit(leaf, 'exact', { path: 'data.in_reply_to_user_id', value: user });
  for (const post of [document.retweeted, document.quoted]) {
    const [inner] = post ? references(post, 'replied_to') : [];
    if (post && inner !== undefined)
      return hit(leaf, 'approximate', { path: `${post.path}.referenced_tweets`, value: inner });
  }
  if (!document.complete) return unknown('the retweeted or quoted post was not delivered');
  return miss(
    leaf,
    document.content[0] === document.own && document.content.length === 1 ? 'exact' : 'approximate',
    'the post is no reply',
  );
};

/** `scopes` is present on promoted posts only. */
export const isNullcast: LeafEvaluator = (leaf, document) => {
  const followers = field(document.own.data['scopes'], 'followers');
  if (followers === false) return hit(leaf, 'approximate', { path: 'data.scopes.followers', value: 'false' });
  return miss(leaf, 'approximate', 'the post is not marked as an ad');
};

export const conversationId: LeafEvaluator = (leaf, document) => {
  const id = textOf(document.own.data['conversation_id']);
  if (id === undefined) return unknown('the conversation was not delivered');
  const where = { path: 'data.conversation_id', value: id };
  return id === termOf(leaf) ? hit(leaf, 'exact', where) : miss(leaf, 'exact', 'another conversation', where);
};

export const inReplyToTweetId = referenceEvaluator('replied_to');
export const retweetsOfTweetId = referenceEvaluator('retweeted');

function referenceEvaluator(type: string): LeafEvaluator {
  return (leaf, document) => {
    const [id] = references(document.own, type);
    if (id === undefined) return miss(leaf, 'exact', 'the post refers to no such post');
    const where = { path: 'data.referenced_tweets', value: id };
    return id === termOf(leaf)
      ? hit(leaf, 'exact', where)
      : miss(leaf, 'exact', 'it refers to another post', where);
  };
}

/** Payloads say `zh` where rules say `zh-CN` or `zh-TW`. */
export const lang: LeafEvaluator = (leaf, document) => {
  const language = textOf(document.own.data['lang']);
  if (language === undefined) return unknown('the language was not delivered');
  const wanted = termOf(leaf).toLowerCase();
  const where = { path: 'data.lang', value: language };
  if (language.toLowerCase() === wanted) return hit(leaf, 'exact', where);
  if (language === 'zh' && wanted.startsWith('zh-')) return unknown('the item says only zh');
  return miss(leaf, 'exact', `the language is ${language}`, where);
};
