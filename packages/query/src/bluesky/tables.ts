import { createDialect } from '../x/dialect.ts';
import { type Elsewhere, elsewhere as elsewhereOfX } from '../x/elsewhere.ts';
import type { Operator } from '../x/operator.ts';
import { xDialect } from '../x/tables.ts';
import { foldLanguage } from './languages.ts';

const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';

/** The operators of X that a post on Bluesky decides. */
const operators: readonly Operator[] = [
  {
    name: 'keyword',
    value: 'words',
    standalone: 'yes',
    form: 'word  "exact phrase"  "two words"~N  🔥',
    meaning:
      'Token, token sequence, words within N (1–6) tokens, or emoji in the text of the post. Alt texts, link cards and quoted posts are not searched. No stemming, no wildcards; accents count. Quote anything with punctuation',
    example: 'glacier "coca-cola" "blue ice"~3',
  },
  {
    name: 'hashtag',
    value: 'tag',
    standalone: 'yes',
    form: '#tag',
    meaning: 'Exact hashtag, in the text or beside it',
    example: '#fjordlight',
  },
  {
    name: 'mention',
    value: 'handle',
    standalone: 'yes',
    form: '@handle or @did',
    meaning: 'Mentions the account, by the handle as the text shows it or by DID',
    example: '@fjord.example.com',
  },
  account('from', 'Author, by DID'),
  account('to', 'Reply to a post of the account, by DID'),
  {
    name: 'url',
    value: 'text',
    standalone: 'yes',
    form: 'url:"part"',
    meaning: 'Tokens of a link in the text or of the link card',
    example: 'url:"example.com/press"',
  },
  flag('has:links', 'A link or link card'),
  flag('has:images', 'An image'),
  flag('has:mentions', 'A mention', 'ice -has:mentions'),
  flag('has:hashtags', 'A hashtag'),
  flag('is:reply', 'Reply', 'ice -is:reply'),
  flag('is:quote', 'Quotes a post'),
  {
    name: 'lang',
    value: 'lang',
    standalone: 'no',
    form: 'lang:xx',
    meaning: 'A language that the author set; `lang:en` also matches en-US. A post has up to three',
    example: 'ice lang:en',
  },
];

function account(name: string, meaning: string): Operator {
  return {
    name,
    value: 'handle',
    standalone: 'yes',
    form: `${name}:did`,
    meaning,
    example: `${name}:${did}`,
  };
}

function flag(name: string, meaning: string, example = `ice ${name}`): Operator {
  return { name, value: 'none', standalone: 'no', form: name, meaning, example };
}

const noReposts: Elsewhere = { hint: 'Bluesky posts contain no reposts; leave it out', isNeverTrue: true };
const noProfile: Elsewhere = { hint: 'posts come without the profile of their author' };
const noPlace: Elsewhere = { hint: 'Bluesky posts have no place' };
const noTopics: Elsewhere = { hint: 'Bluesky does not annotate topics' };
const noPostIds: Elsewhere = { hint: 'single posts and threads cannot be followed; use to: with a DID' };

/** Operators of X without an equivalent, by canonical name. */
const onlyOnX: Readonly<Record<string, Elsewhere>> = {
  cashtag: { hint: 'Bluesky has no cashtags; use a hashtag', instead: '#{}', certainty: 'guess' },
  'is:retweet': noReposts,
  retweets_of: noReposts,
  retweets_of_tweet_id: noReposts,
  'is:nullcast': { hint: 'Bluesky has no ads; leave it out', isNeverTrue: true },
  'is:verified': noProfile,
  bio: noProfile,
  bio_name: noProfile,
  bio_location: noProfile,
  from_affiliate_of: noProfile,
  to_affiliate_of: noProfile,
  min_followers: noProfile,
  followers_count: noProfile,
  tweets_count: noProfile,
  following_count: noProfile,
  listed_count: noProfile,
  'has:cashtags': { hint: 'Bluesky has no cashtags; leave it out', isNeverTrue: true },
  'has:media': { hint: 'use has:images', instead: 'has:images', certainty: 'guess' },
  'has:video_link': { hint: 'videos cannot be filtered' },
  'has:geo': { hint: 'Bluesky posts have no place; leave it out', isNeverTrue: true },
  place: noPlace,
  place_country: noPlace,
  point_radius: noPlace,
  bounding_box: noPlace,
  url_title: { hint: 'only the address of a link is searched; use url:' },
  url_description: { hint: 'only the address of a link is searched; use url:' },
  url_contains: { hint: 'use url: with whole words of the link', instead: 'url:{}', certainty: 'guess' },
  context: noTopics,
  entity: noTopics,
  conversation_id: noPostIds,
  in_reply_to_tweet_id: noPostIds,
  sample: { hint: 'a rule cannot take a sample of the posts' },
  embedding: { hint: 'posts cannot be compared by meaning; list the words' },
  embedding_threshold: { hint: 'posts cannot be compared by meaning; list the words' },
  source: { hint: 'posts do not name the app' },
};

/** Mistakes whose correction is the same as on X. */
const asOnX = (
  'hashtag mention mentions keyword text language link domain site filter:links filter:images filter:hashtags ' +
  'filter:replies filter:quote exclude:replies exclude:quotes exclude has:url has:urls has:photo has:photos has:quotes ' +
  'since until after before since_id since_time until_time max_id min_faves min_retweets contains'
).split(' ');

const others: readonly (readonly [string, Elsewhere])[] = [
  ...['exclude:retweets', 'exclude:nativeretweets', 'include:retweets', 'include:nativeretweets'].map(
    (name) => [name, { hint: 'Bluesky posts contain no reposts; leave it out', instead: '' }] as const,
  ),
  ...['is:rt', 'is:repost', 'filter:retweets', 'filter:nativeretweets'].map(
    (name) => [name, noReposts] as const,
  ),
  ...['author', 'user', 'username', 'screen_name', 'author_id', 'user_id'].map(
    (name) => [name, { hint: 'the author is from: with a DID', instead: 'from:{}' }] as const,
  ),
  ...['in_reply_to', 'reply_to', 'in_reply_to_user_id'].map(
    (name) => [name, { hint: 'use to: with a DID', instead: 'to:{}', certainty: 'guess' }] as const,
  ),
  ['has:video', { hint: 'videos cannot be filtered' }],
  ['list', { hint: 'lists are not available; name the accounts with from:' }],
];

const elsewhere: ReadonlyMap<string, Elsewhere> = new Map([
  ...asOnX.flatMap((name) => {
    const known = elsewhereOfX.get(name);
    return known === undefined ? [] : [[name, known] as const];
  }),
  ...xDialect.operators.flatMap(({ name, aliases = [] }) => {
    const hint = onlyOnX[name];
    return hint === undefined ? [] : [name, ...aliases].map((one) => [one, hint] as const);
  }),
  ...others,
]);

export const lengthMax = 2048;
export const clausesMax = 200;

export const blueskyDialect = createDialect({
  name: 'Bluesky',
  operators,
  lengthMax: { standard: lengthMax, enterprise: lengthMax, embedding: lengthMax },
  elsewhere,
  undocumented: new Set(),
  implied: new Map(),
  single: { from: 'author', to: 'account that it replies to' },
  languageCode: foldLanguage,
  texts: {
    stream: 'Bluesky',
    everything:
      'Nearly every post matches a part of this. Say what posts must be about: a rarer word, a phrase, a hashtag or an account.',
    oneWord:
      'Possibly very broad: one word or tag is enough. Preview the rule, or require a second word, a phrase or an account.',
    stopWords: 'Nearly every post matches words as common as these. Add a rarer word.',
    negatedBranch: 'This branch of OR holds for every post without the clause.',
    negatedGroup:
      'A dash before parentheses negates each clause. The rule is registered with each clause negated.',
  },
});
