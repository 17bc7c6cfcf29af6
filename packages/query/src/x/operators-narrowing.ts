import type { Operator } from './operator.ts';

/** Where a post was made, what kind it is, and what narrows the rest. */
export const narrowingOperators: readonly Operator[] = [
  {
    name: 'place',
    value: 'text',
    standalone: 'yes',
    form: 'place:"name"',
    meaning: 'Tagged place by name or id; never on retweets',
    example: 'place:"new york city"',
  },
  {
    name: 'place_country',
    value: 'country',
    standalone: 'yes',
    form: 'place_country:XX',
    meaning: 'Country of the tagged place, two letters',
    example: 'place_country:no',
  },
  {
    name: 'point_radius',
    value: 'circle',
    standalone: 'yes',
    form: 'point_radius:[lon lat r]',
    meaning: 'Within r km or mi (below 25 mi) of a point',
    example: 'point_radius:[-21.9 64.1 16km]',
  },
  {
    name: 'bounding_box',
    aliases: ['geo_bounding_box'],
    value: 'box',
    standalone: 'yes',
    form: 'bounding_box:[west south east north]',
    meaning: 'Inside a box with sides below 25 mi',
    example: 'bounding_box:[-22.1 64.0 -21.7 64.2]',
  },
  flag('is:retweet', 'Native retweet, not a quote', { example: 'ice -is:retweet' }),
  flag('is:reply', 'Reply, also a retweet or quote of one'),
  flag('is:quote', 'Quotes a post'),
  flag('is:verified', 'Author is verified'),
  flag('is:nullcast', 'Only negated: drops ads-only posts', {
    negation: 'always',
    form: '-is:nullcast',
    example: 'ice -is:nullcast',
  }),
  flag('has:hashtags', 'A hashtag'),
  flag('has:cashtags', 'A cashtag'),
  flag('has:mentions', 'A mention', { example: 'ice -has:mentions' }),
  flag('has:links', 'A link or media'),
  flag('has:media', 'Photo, GIF or video', { aliases: ['has:media_link'] }),
  flag('has:images', 'A photo'),
  flag('has:video_link', 'A native video', { aliases: ['has:videos'] }),
  flag('has:geo', 'A tagged place or point'),
  {
    name: 'lang',
    value: 'lang',
    standalone: 'no',
    form: 'lang:xx',
    meaning: "X's language of the post",
    example: 'ice lang:en',
  },
  {
    name: 'sample',
    value: 'sample',
    standalone: 'no',
    negation: 'never',
    form: 'sample:1–100',
    meaning: 'Random percentage of the whole rule; put ORs in parentheses',
    example: '(ice OR snow) sample:10',
  },
  {
    name: 'min_followers',
    value: 'integer',
    standalone: 'unclear',
    form: 'min_followers:n',
    meaning: 'Author has at least n followers',
    example: 'ice min_followers:1000',
  },
  count('followers_count', "Author's followers: at least n, or from a to b", {
    form: 'followers_count:n or a..b',
    example: 'ice followers_count:1000..5000',
  }),
  count('tweets_count', "Author's posts", { aliases: ['statuses_count'], example: 'ice tweets_count:100' }),
  count('following_count', 'Accounts the author follows', {
    aliases: ['friends_count'],
    example: 'ice following_count:10..500',
  }),
  count('listed_count', 'Lists with the author', {
    aliases: ['user_in_lists_count'],
    example: 'ice listed_count:10',
  }),
  {
    name: 'source',
    value: 'text',
    standalone: 'no',
    form: 'source:"app"',
    meaning: 'Posting app',
    example: 'ice source:"Acme Poster"',
  },
];

/** Written as it is called; narrows what stands beside it. */
function flag(name: string, meaning: string, special: Partial<Operator> = {}): Operator {
  return { name, value: 'none', standalone: 'no', form: name, meaning, example: `ice ${name}`, ...special };
}

/** A number of the author. */
function count(
  name: string,
  meaning: string,
  special: Pick<Operator, 'example'> & Partial<Operator>,
): Operator {
  return { name, value: 'count', standalone: 'unclear', form: `${name}:n`, meaning, ...special };
}
