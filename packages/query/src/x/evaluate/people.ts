import type { LeafNode } from '../../ast.ts';
import type { LeafVerdict } from '../../language.ts';
import { either, field, list, references, source, textOf, type User, type XDocument } from '../document.ts';
import { hit, type LeafEvaluator, miss, termOf, unknown } from './verdict.ts';
import { search } from './words.ts';

interface Account {
  readonly path: string;
  readonly id: string | undefined;
}

/** A value of digits is an id; a name needs the user in `includes`. */
function sameAccount(leaf: LeafNode, document: XDocument, account: Account): LeafVerdict {
  const wanted = termOf(leaf);
  if (account.id === undefined) return unknown('the item does not name the account');
  if (/^\d+$/.test(wanted)) {
    if (!/^\d+$/.test(account.id)) return unknown('the item does not have the id of the account');
    const where = { path: account.path, value: account.id };
    return account.id === wanted ? hit(leaf, 'exact', where) : miss(leaf, 'exact', 'another account', where);
  }
  const user = document.userById(account.id);
  const username = textOf(user?.data['username']);
  if (user === undefined || username === undefined) return unknown('the user was not delivered');
  const where = { path: `${user.path}.username`, value: username };
  return username.toLowerCase() === wanted
    ? hit(leaf, 'exact', where)
    : miss(leaf, 'exact', 'another account', where);
}

export const from: LeafEvaluator = (leaf, document) =>
  sameAccount(leaf, document, { path: 'data.author_id', id: textOf(document.own.data['author_id']) });

export const to: LeafEvaluator = (leaf, document) => {
  const id = textOf(document.own.data['in_reply_to_user_id']);
  if (id !== undefined) return sameAccount(leaf, document, { path: 'data.in_reply_to_user_id', id });
  if (references(document.own, 'replied_to').length > 0)
    return unknown('the item does not say whom it replies to');
  const addressed = (textOf(document.own.data['text']) ?? '').toLowerCase().startsWith(`@${termOf(leaf)}`);
  return miss(leaf, addressed ? 'approximate' : 'exact', 'the post is no reply');
};

export const retweetsOf: LeafEvaluator = (leaf, document) => {
  const { retweeted } = document;
  if (retweeted === undefined) return unknown('the retweeted post was not delivered');
  if (retweeted === null) return miss(leaf, 'exact', 'the post is no retweet');
  return sameAccount(leaf, document, {
    path: `${retweeted.path}.author_id`,
    id: textOf(retweeted.data['author_id']),
  });
};

export const fromAffiliateOf: LeafEvaluator = (leaf, document) =>
  affiliateOf(leaf, document, document.userById(document.own.data['author_id']));

export const toAffiliateOf: LeafEvaluator = (leaf, document) => {
  const id = document.own.data['in_reply_to_user_id'];
  if (id === undefined && references(document.own, 'replied_to').length === 0)
    return miss(leaf, 'exact', 'the post is no reply');
  return affiliateOf(leaf, document, document.userById(id));
};

function affiliateOf(leaf: LeafNode, document: XDocument, user: User | undefined): LeafVerdict {
  const wanted = termOf(leaf);
  const id = /^\d+$/.test(wanted) ? wanted : textOf(document.userByName(wanted)?.data['id']);
  const affiliation = field(user?.data['affiliation'], 'user_id');
  if (user === undefined || affiliation === undefined) return unknown('the affiliation was not delivered');
  if (id === undefined) return unknown('the id of the account is not in the item');
  const ids = typeof affiliation === 'string' ? [affiliation] : list(affiliation);
  const where = { path: `${user.path}.affiliation.user_id`, value: ids.join(' ') };
  return ids.includes(id) ? hit(leaf, 'exact', where) : miss(leaf, 'exact', 'no affiliate', where);
}

export const isVerified: LeafEvaluator = (leaf, document) => {
  const author = document.userById(document.own.data['author_id']);
  const verified = author?.data['verified'];
  if (author === undefined || typeof verified !== 'boolean') return unknown('the author was not delivered');
  const where = { path: `${author.path}.verified`, value: String(verified) };
  return verified
    ? hit(leaf, 'approximate', where)
    : miss(leaf, 'approximate', 'the author is not verified', where);
};

export const bio = profileEvaluator('description');
export const bioName = profileEvaluator('name');
export const bioLocation = profileEvaluator('location');

/** X omits empty fields, so a missing description may be empty or not requested. */
function profileEvaluator(name: string): LeafEvaluator {
  return (leaf, document) => {
    const author = document.userById(document.own.data['author_id']);
    const text = textOf(author?.data[name]);
    if (author === undefined || text === undefined) return unknown(`the author's ${name} was not delivered`);
    const path = `${author.path}.${name}`;
    return (
      search(leaf, [source(path, text)]) ??
      miss(leaf, 'approximate', `not in the author's ${name}`, { path, value: text })
    );
  };
}

export const followersCount = countEvaluator('followers_count', 'followers_count');
export const tweetsCount = countEvaluator('tweet_count', 'post_count');
export const followingCount = countEvaluator('following_count', 'following_count');
export const listedCount = countEvaluator('listed_count', 'listed_count');

/** Counts change between match and delivery, so near a bound the verdict is approximate. */
function countEvaluator(name: string, newName: string): LeafEvaluator {
  return (leaf, document) => {
    if (leaf.test.type !== 'number') return unknown('the value is not a number');
    const author = document.userById(document.own.data['author_id']);
    const metric = either(author?.data['public_metrics'], name, newName);
    if (author === undefined || typeof metric.value !== 'number')
      return unknown("the author's counts were not delivered");
    const count = metric.value;
    const { low, high } = leaf.test;
    const bounds = [low, high].filter((bound) => bound !== null);
    const near = bounds.some((bound) => Math.abs(count - bound) <= Math.max(5, bound * 0.02));
    const where = { path: `${author.path}.public_metrics.${metric.name}`, value: String(count) };
    const inside = (low === null || count >= low) && (high === null || count <= high);
    const confidence = near ? 'approximate' : 'exact';
    return inside ? hit(leaf, confidence, where) : miss(leaf, confidence, `the count is ${count}`, where);
  };
}
