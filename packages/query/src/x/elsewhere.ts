/**
 * Operators of other X products and of other search engines (x.md §10.2, end): refused with a hint, and with a
 * replacement where there is one. The key is the name, or name and value.
 */
export interface Elsewhere {
  readonly hint: string;
  /** Replaces the whole clause; `{}` stands for the value. */
  readonly instead?: string;
}

export const elsewhere: ReadonlyMap<string, Elsewhere> = new Map<string, Elsewhere>([
  ['list', { hint: 'lists are not available on the stream; name the accounts with from:' }],
  ['quotes_of_tweet_id', { hint: 'only search has it' }],
  ['since', { hint: 'the stream has no past; leave it out' }],
  ['until', { hint: 'the stream has no end date; leave it out' }],
  ['after', { hint: 'the stream has no past; leave it out' }],
  ['before', { hint: 'the stream has no end date; leave it out' }],
  ['since_id', { hint: 'the stream has no past; leave it out' }],
  ['max_id', { hint: 'the stream has no end; leave it out' }],
  ['min_faves', { hint: 'a new post has no likes yet, so the stream cannot filter by them' }],
  ['min_retweets', { hint: 'a new post has no retweets yet, so the stream cannot filter by them' }],
  ['near', { hint: 'use point_radius:[longitude latitude radius] or place:"name"' }],
  ['within', { hint: 'use point_radius:[longitude latitude radius]' }],
  ['geocode', { hint: 'use point_radius:[longitude latitude radius]' }],
  ['contains', { hint: 'words are matched whole; write the word itself', instead: '{}' }],
  ['community_id', { hint: 'communities are not available on the stream' }],
  ['profile_country', { hint: 'use bio_location:', instead: 'bio_location:{}' }],
  ['profile_region', { hint: 'use bio_location:', instead: 'bio_location:{}' }],
  ['profile_locality', { hint: 'use bio_location:', instead: 'bio_location:{}' }],
  ['profile_subregion', { hint: 'use bio_location:', instead: 'bio_location:{}' }],
  ['profile_bio', { hint: 'use bio:', instead: 'bio:{}' }],
  ['has:symbols', { hint: 'it is called has:cashtags', instead: 'has:cashtags' }],
  ['has:lang', { hint: 'use lang: with a code' }],
  ['has:profile_geo', { hint: 'use bio_location:' }],
  ['has:polls', { hint: 'the stream cannot filter by polls' }],
  ['has:quotes', { hint: 'it is called is:quote', instead: 'is:quote' }],
  ['has:retweets', { hint: 'it is called is:retweet', instead: 'is:retweet' }],
  ['has:url', { hint: 'it is called has:links', instead: 'has:links' }],
  ['has:urls', { hint: 'it is called has:links', instead: 'has:links' }],
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
  ['filter', { hint: 'filter: belongs to the search box; use has: and is:' }],
  ['is:rt', { hint: 'it is called is:retweet', instead: 'is:retweet' }],
  ['is:repost', { hint: 'it is called is:retweet', instead: 'is:retweet' }],
  ['hashtag', { hint: 'write the hashtag itself', instead: '#{}' }],
  ['cashtag', { hint: 'write the cashtag itself', instead: '${}' }],
  ['mention', { hint: 'write the mention itself', instead: '@{}' }],
  ['mentions', { hint: 'write the mention itself', instead: '@{}' }],
  ['keyword', { hint: 'write the word itself', instead: '{}' }],
  ['text', { hint: 'write the word itself', instead: '{}' }],
  ['user', { hint: 'the author is from:', instead: 'from:{}' }],
  ['author', { hint: 'the author is from:', instead: 'from:{}' }],
  ['language', { hint: 'it is called lang:', instead: 'lang:{}' }],
  ['country', { hint: 'it is called place_country:', instead: 'place_country:{}' }],
  [
    'location',
    { hint: 'use place: for tagged posts, bio_location: for profiles', instead: 'bio_location:{}' },
  ],
  ['link', { hint: 'it is called url:', instead: 'url:{}' }],
  ['domain', { hint: 'it is called url:', instead: 'url:{}' }],
  ['site', { hint: 'it is called url:', instead: 'url:{}' }],
]);

/** Implied by a changelog entry but missing from the operator page: accepted, so that X decides. */
export const undocumented: ReadonlySet<string> = new Set(['min_likes', 'min_replies', 'min_reposts']);
