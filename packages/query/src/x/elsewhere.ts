/**
 * Operators of other X products and of other search engines (x.md §10.2, end): refused with a hint, and with a
 * replacement where there is one. The key is the name, or name and value.
 */
export interface Elsewhere {
  readonly hint: string;
  /** Replaces the whole clause; `{}` stands for the value, nothing for a clause that is to be left out. */
  readonly instead?: string;
  /** Where the replacement may not be what was meant. Default `certain`. */
  readonly certainty?: 'guess';
  /** Leaving it out changes nothing when it is negated. Without a dash the rule could never match. */
  readonly isNeverTrue?: true;
  /** How a value is written there; another value has no replacement. */
  readonly rewrite?: readonly [from: RegExp, to: string];
}

export const elsewhere: ReadonlyMap<string, Elsewhere> = new Map<string, Elsewhere>([
  ['list', { hint: 'lists are not available on the stream; name the accounts with from:' }],
  ['quotes_of_tweet_id', { hint: 'only search has it' }],
  ['since', { hint: 'the stream has no past; leave it out', instead: '' }],
  ['until', { hint: 'the stream has no end date; leave it out' }],
  ['after', { hint: 'the stream has no past; leave it out', instead: '' }],
  ['before', { hint: 'the stream has no end date; leave it out' }],
  ['since_id', { hint: 'the stream has no past; leave it out', instead: '' }],
  ['since_time', { hint: 'the stream has no past; leave it out', instead: '' }],
  ['until_time', { hint: 'the stream has no end date; leave it out' }],
  ['max_id', { hint: 'the stream has no end; leave it out' }],
  ['min_faves', { hint: 'a new post has no likes yet, so the stream cannot filter by them' }],
  ['min_retweets', { hint: 'a new post has no retweets yet, so the stream cannot filter by them' }],
  ['near', { hint: 'use point_radius:[longitude latitude radius] or place:"name"' }],
  ['within', { hint: 'use point_radius:[longitude latitude radius]' }],
  [
    'geocode',
    {
      hint: 'use point_radius:[longitude latitude radius]',
      instead: 'point_radius:{}',
      rewrite: [/^"?(-?[\d.]+),\s*(-?[\d.]+),\s*([\d.]+(?:km|mi))"?$/, '[$2 $1 $3]'],
    },
  ],
  ...['followers', 'followers_min'].map((name): [string, Elsewhere] => [
    name,
    { hint: 'it is called followers_count:', instead: 'followers_count:{}', certainty: 'guess' },
  ]),
  ['contains', { hint: 'words are matched whole; write the word itself', instead: '{}', certainty: 'guess' }],
  ['community_id', { hint: 'communities are not available on the stream' }],
  ...['profile_country', 'profile_region', 'profile_locality', 'profile_subregion'].map(
    (name): [string, Elsewhere] => [
      name,
      { hint: 'use bio_location:', instead: 'bio_location:{}', certainty: 'guess' },
    ],
  ),
  ['profile_bio', { hint: 'use bio:', instead: 'bio:{}' }],
  ['has:symbols', { hint: 'it is called has:cashtags', instead: 'has:cashtags' }],
  ['has:lang', { hint: 'use lang: with a code' }],
  ['has:profile_geo', { hint: 'use bio_location:' }],
  ['has:polls', { hint: 'the stream cannot filter by polls' }],
  ['has:quotes', { hint: 'it is called is:quote', instead: 'is:quote' }],
  ['has:retweets', { hint: 'it is called is:retweet', instead: 'is:retweet' }],
  ['has:url', { hint: 'it is called has:links', instead: 'has:links' }],
  ['has:urls', { hint: 'it is called has:links', instead: 'has:links' }],
  ['has:photo', { hint: 'it is called has:images', instead: 'has:images' }],
  ['has:gif', { hint: 'a GIF is media', instead: 'has:media', certainty: 'guess' }],
  ['has:gifs', { hint: 'a GIF is media', instead: 'has:media', certainty: 'guess' }],
  ['has:video', { hint: 'it is called has:video_link', instead: 'has:video_link' }],
  ['has:photos', { hint: 'it is called has:images', instead: 'has:images' }],
  ['has:location', { hint: 'it is called has:geo', instead: 'has:geo' }],
  ['filter:links', { hint: 'filter: belongs to the search box', instead: 'has:links' }],
  ['filter:media', { hint: 'filter: belongs to the search box', instead: 'has:media' }],
  ['filter:images', { hint: 'filter: belongs to the search box', instead: 'has:images' }],
  ['filter:videos', { hint: 'filter: belongs to the search box', instead: 'has:video_link' }],
  ['filter:hashtags', { hint: 'filter: belongs to the search box', instead: 'has:hashtags' }],
  ['filter:retweets', { hint: 'filter: belongs to the search box', instead: 'is:retweet' }],
  ['filter:replies', { hint: 'filter: belongs to the search box', instead: 'is:reply' }],
  ['filter:quote', { hint: 'filter: belongs to the search box', instead: 'is:quote' }],
  ['filter:verified', { hint: 'filter: belongs to the search box', instead: 'is:verified' }],
  ['filter:native_video', { hint: 'filter: belongs to the search box', instead: 'has:video_link' }],
  ['filter:nativeretweets', { hint: 'filter: belongs to the search box', instead: 'is:retweet' }],
  ['exclude:retweets', { hint: 'write -is:retweet', instead: '-is:retweet' }],
  ['exclude:nativeretweets', { hint: 'write -is:retweet', instead: '-is:retweet' }],
  ['exclude:replies', { hint: 'write -is:reply', instead: '-is:reply' }],
  ['exclude:quotes', { hint: 'write -is:quote', instead: '-is:quote' }],
  ['exclude', { hint: 'put a dash before what is not wanted' }],
  ['include:nativeretweets', { hint: 'retweets come unless -is:retweet keeps them out', instead: '' }],
  ['include:retweets', { hint: 'retweets come unless -is:retweet keeps them out', instead: '' }],
  ['include', { hint: 'everything comes that is not excluded' }],
  ['filter', { hint: 'filter: belongs to the search box; use has: and is:' }],
  ['is:blue_verified', { hint: 'it is called is:verified', instead: 'is:verified' }],
  ['is:original', { hint: 'exclude the others', instead: '-is:retweet -is:reply', certainty: 'guess' }],
  ['is:tweet', { hint: 'exclude the others', instead: '-is:retweet', certainty: 'guess' }],
  ['is:rt', { hint: 'it is called is:retweet', instead: 'is:retweet' }],
  ['is:repost', { hint: 'it is called is:retweet', instead: 'is:retweet' }],
  ['hashtag', { hint: 'write the hashtag itself', instead: '#{}' }],
  ['cashtag', { hint: 'write the cashtag itself', instead: '${}' }],
  ['mention', { hint: 'write the mention itself', instead: '@{}' }],
  ['mentions', { hint: 'write the mention itself', instead: '@{}' }],
  ['keyword', { hint: 'write the word itself', instead: '{}' }],
  ['text', { hint: 'write the word itself', instead: '{}' }],
  ['author_id', { hint: 'from: takes the number too', instead: 'from:{}' }],
  ['user_id', { hint: 'from: takes the number too', instead: 'from:{}' }],
  ['username', { hint: 'the author is from:', instead: 'from:{}' }],
  ['screen_name', { hint: 'the author is from:', instead: 'from:{}' }],
  ['in_reply_to_user_id', { hint: 'to: takes the number too', instead: 'to:{}' }],
  ['in_reply_to', { hint: 'use to: with an account', instead: 'to:{}', certainty: 'guess' }],
  ['reply_to', { hint: 'use to: with an account', instead: 'to:{}', certainty: 'guess' }],
  ['quoted_tweet_id', { hint: 'quotes of one post cannot be filtered; use url: with its link' }],
  ['in', { hint: 'for a language use lang: with a code' }],
  ['user', { hint: 'the author is from:', instead: 'from:{}' }],
  ['author', { hint: 'the author is from:', instead: 'from:{}' }],
  ['language', { hint: 'it is called lang:', instead: 'lang:{}' }],
  [
    'country',
    {
      hint: 'place_country: is for tagged posts, which are few',
      instead: 'place_country:{}',
      certainty: 'guess',
    },
  ],
  [
    'location',
    {
      hint: 'use place: for tagged posts, bio_location: for profiles',
      instead: 'bio_location:{}',
      certainty: 'guess',
    },
  ],
  ['link', { hint: 'it is called url:', instead: 'url:{}' }],
  ['domain', { hint: 'it is called url:', instead: 'url:{}' }],
  ['title', { hint: 'posts have no title; title: is for web pages', instead: '{}', certainty: 'guess' }],
  ['added', { hint: 'added: is for web pages', instead: '{}', certainty: 'guess' }],
  ['page_category', { hint: 'page_category: is for web pages; posts have context:' }],
  ['page_type', { hint: 'page_type: is for web pages' }],
  ['recent', { hint: 'recent: is for web pages; the stream has no past', instead: '' }],
  ['dr', { hint: 'dr: is for web pages; authors have followers_count:' }],
  ['site', { hint: 'it is called url:', instead: 'url:{}' }],
]);

/** Implied by a changelog entry but missing from the operator page: accepted, so that X decides. */
export const undocumented: ReadonlySet<string> = new Set(['min_likes', 'min_replies', 'min_reposts']);
