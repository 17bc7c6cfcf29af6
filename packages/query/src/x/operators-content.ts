import type { Operator } from './operator.ts';

/** What a post says, who says it, what it links to and what it is about. */
export const contentOperators: readonly Operator[] = [
  {
    name: 'keyword',
    value: 'words',
    standalone: 'yes',
    form: 'word  "exact phrase"  "two words"~N  🔥',
    meaning:
      'Token, token sequence, words within N (1–6) tokens, or emoji in the post, its links and the quoted post. No stemming, no wildcards; accents count. Quote anything with punctuation',
    example: 'glacier "coca-cola" "blue ice"~3',
  },
  {
    name: 'hashtag',
    value: 'tag',
    standalone: 'yes',
    form: '#tag',
    meaning: 'Exact hashtag',
    example: '#fjordlight',
  },
  { name: 'cashtag', value: 'tag', standalone: 'yes', form: '$SYM', meaning: 'Cashtag', example: '$acme' },
  {
    name: 'mention',
    value: 'handle',
    standalone: 'yes',
    form: '@user',
    meaning: 'Mentions the account',
    example: '@acme_sky',
  },
  account('from', 'Author, by handle without @ or by numeric id'),
  account('to', 'Reply to the account'),
  account('retweets_of', "Retweet of the account's post", ['retweets_of_user']),
  account('from_affiliate_of', 'Author is an affiliate of the account'),
  account('to_affiliate_of', 'Reply to an affiliate of the account'),
  words('bio', "Author's description", 'bio:"glaciologist"', { aliases: ['user_bio'] }),
  words('bio_name', "Author's display name", 'bio_name:acme'),
  words('bio_location', "Author's free-text location", 'bio_location:"north cape"', {
    aliases: ['user_bio_location'],
  }),
  words('url', 'Tokens of a link or of where it leads', 'url:"example.com/press"', { form: 'url:"part"' }),
  words('url_title', "Linked page's title", 'ice url_title:"annual report"', {
    aliases: ['within_url_title'],
    standalone: 'unclear',
  }),
  words('url_description', "Linked page's description", 'ice url_description:melting', {
    aliases: ['within_url_description'],
    standalone: 'unclear',
  }),
  words('url_contains', 'Substring of a link', 'ice url_contains:"/press/"', {
    standalone: 'unclear',
    form: 'url_contains:"part"',
  }),
  {
    name: 'context',
    value: 'context',
    standalone: 'yes',
    form: 'context:domain.entity',
    meaning: "X's topic annotation; `*` for either side",
    example: 'context:47.*',
  },
  words('entity', "X's entity annotation", 'entity:"North Cape"', { form: 'entity:"name"' }),
  post('conversation_id', 'Any post of the thread'),
  post('in_reply_to_tweet_id', 'Direct replies to the post', {
    aliases: ['in_reply_to_status_id'],
    standalone: 'unclear',
    example: 'ice in_reply_to_tweet_id:1961112223334445556',
  }),
  post('retweets_of_tweet_id', 'Retweets of the post', {
    aliases: ['retweets_of_status_id'],
    standalone: 'unclear',
    example: 'ice retweets_of_tweet_id:1961112223334445556',
  }),
  {
    name: 'embedding',
    value: 'sentence',
    standalone: 'yes',
    negation: 'never',
    tier: 'embedding',
    form: 'embedding:"description"',
    meaning: 'Semantic similarity; longer descriptions work better',
    example: 'embedding:"ice sheets that melt faster than expected"',
  },
  {
    name: 'embedding_threshold',
    value: 'fraction',
    standalone: 'no',
    negation: 'never',
    tier: 'embedding',
    form: 'embedding_threshold:0.0–1.0',
    meaning: 'Least similarity, default 0.3',
    example: 'embedding:"melting ice sheets" embedding_threshold:0.4',
  },
];

/** An account in relation to the post, by handle or by id. */
function account(name: string, meaning: string, aliases: readonly string[] = []): Operator {
  const [form, example] = [`${name}:user`, `${name}:acme_sky`];
  return { name, aliases, value: 'handle', standalone: 'yes', form, meaning, example };
}

/** Words of a text that comes with the post. */
function words(name: string, meaning: string, example: string, special: Partial<Operator> = {}): Operator {
  return { name, value: 'text', standalone: 'yes', form: `${name}:word`, meaning, example, ...special };
}

/** A post in relation to this one. */
function post(name: string, meaning: string, special: Partial<Operator> = {}): Operator {
  const example = `${name}:1961112223334445556`;
  return { name, value: 'id', standalone: 'yes', form: `${name}:id`, meaning, example, ...special };
}
