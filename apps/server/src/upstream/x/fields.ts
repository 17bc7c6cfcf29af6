import type { XExpansions } from './settings.ts';

/** The stream has only the older names; search has the newer ones, perhaps also the older. */
export type XDialect = 'tweet' | 'post';

const common =
  'attachments,context_annotations,conversation_id,created_at,display_text_range,edit_controls,entities,geo,id,lang,' +
  'possibly_sensitive,public_metrics,reply_settings,scopes,source,text,withheld';
/** With the newer names, the author and referenced posts come only with expansions. */
const postFields: Readonly<Record<XDialect, string>> = {
  tweet: `${common},author_id,edit_history_tweet_ids,in_reply_to_user_id,note_tweet,referenced_tweets`,
  post: `${common},note_post`,
};

const shared = 'author_id,in_reply_to_user_id,entities.mentions.username,attachments.media_keys,geo.place_id';
const allExpansions: Readonly<Record<XDialect, string>> = {
  tweet:
    `${shared},referenced_tweets.id,referenced_tweets.id.author_id,referenced_tweets.id.attachments.media_keys,` +
    'entities.note.mentions.username',
  post: `${shared},referenced_posts`,
};

const userFields = 'created_at,description,id,location,name,public_metrics,username,verified,verified_type';
const users: Readonly<Record<XDialect, string>> = { tweet: `${userFields},affiliation`, post: userFields };

/** The parameters that select what X sends with a post. */
export function fieldsOf(dialect: XDialect, expansions: XExpansions): Record<string, string> {
  const posts = { [`${dialect}.fields`]: postFields[dialect] };
  if (expansions === 'none') return posts;
  const author = { ...posts, expansions: 'author_id', 'user.fields': users[dialect] };
  if (expansions === 'author') return author;
  return {
    ...author,
    expansions: allExpansions[dialect],
    'media.fields': 'media_key,type,url,preview_image_url,duration_ms,alt_text',
    'place.fields': 'contained_within,country,country_code,full_name,geo,id,name,place_type',
  };
}

/** Maps X's newer names to the older ones of the stream, stored posts and `why`. */
const olderNames: Readonly<Record<string, string>> = {
  posts: 'tweets',
  note_post: 'note_tweet',
  referenced_posts: 'referenced_tweets',
  edit_history_post_ids: 'edit_history_tweet_ids',
  repost_count: 'retweet_count',
  post_count: 'tweet_count',
  pinned_post_id: 'pinned_tweet_id',
  most_recent_post_id: 'most_recent_tweet_id',
};

/** Renames fields to the names that the stream uses. */
export function inStreamNames<Value>(value: Value): Value;
export function inStreamNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inStreamNames);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      Object.hasOwn(olderNames, key) ? olderNames[key] : key,
      inStreamNames(one),
    ]),
  );
}

/** X accepts whole seconds, so the window is widened. */
export function wholeSeconds(from: Date, to: Date): { start_time: string; end_time: string } {
  const text = (seconds: number) => `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`;
  return {
    start_time: text(Math.floor(from.getTime() / 1_000)),
    end_time: text(Math.ceil(to.getTime() / 1_000)),
  };
}
