import { isJsonObject } from '../http/json.ts';

/** X renames things: its stream says `tweet`, its search says `post` since August 2026. */
export type XDialect = 'tweet' | 'post';

const words = (list: string) => new Set(list.split(' '));
const common = {
  'media.fields': words(
    'alt_text duration_ms height media_key non_public_metrics organic_metrics preview_image_url ' +
      'promoted_metrics public_metrics type url variants width',
  ),
  'place.fields': words('contained_within country country_code full_name geo id name place_type'),
  'poll.fields': words('duration_minutes end_datetime id options voting_status'),
};

/** The parameters of a projection and their values, as X's OpenAPI document 2.167 has them. */
export const projectionValues: Readonly<Record<XDialect, Readonly<Record<string, ReadonlySet<string>>>>> = {
  tweet: {
    ...common,
    'tweet.fields': words(
      'article attachments author_id card_uri community_id context_annotations conversation_id created_at ' +
        'display_text_range edit_controls edit_history_tweet_ids entities geo id in_reply_to_user_id lang ' +
        'matched_media_notes media_metadata non_public_metrics note_request_suggestions note_tweet organic_metrics ' +
        'paid_partnership possibly_sensitive promoted_metrics public_metrics referenced_tweets reply_settings scopes ' +
        'source suggested_source_links suggested_source_links_with_counts text withheld',
    ),
    expansions: words(
      'article.cover_media article.media_entities attachments.media_keys attachments.media_source_tweet ' +
        'attachments.poll_ids author_id edit_history_tweet_ids entities.mentions.username ' +
        'entities.note.mentions.username geo.place_id in_reply_to_user_id referenced_tweets.id ' +
        'referenced_tweets.id.attachments.media_keys referenced_tweets.id.author_id',
    ),
    'user.fields': words(
      'affiliation confirmed_email connection_status created_at description entities id is_identity_verified ' +
        'location most_recent_tweet_id name parody pinned_tweet_id profile_banner_url profile_image_url protected ' +
        'public_metrics receives_your_dm subscription subscription_type url username verified ' +
        'verified_followers_count verified_type withheld',
    ),
  },
  post: {
    ...common,
    'post.fields': words(
      'article article_title attachments card_uri community_id context_annotations conversation_id created_at ' +
        'display_text_range edit_controls entities geo id lang matched_media_notes media_metadata ' +
        'non_public_metrics note_post note_request_suggestions organic_metrics paid_partnership ' +
        'possibly_sensitive promoted_metrics public_metrics reply_settings scopes source ' +
        'suggested_source_links suggested_source_links_with_counts text withheld',
    ),
    expansions: words(
      'article.cover_media article.media_entities attachments.media_keys attachments.media_source_tweet ' +
        'attachments.poll_ids author_id edit_history_post_ids entities.mentions.username geo.place_id ' +
        'in_reply_to_user_id referenced_posts username',
    ),
    'user.fields': words(
      'confirmed_email connection_status created_at description entities id is_identity_verified location name ' +
        'parody profile_banner_url profile_image_url protected public_metrics receives_your_dm ' +
        'subscribes_to_you subscription subscription_type url username verified verified_followers_count ' +
        'verified_type withheld',
    ),
  },
};

/** What a request of the `post` dialect calls by another name than the posts of this sandbox. */
const tweetNames: Readonly<Record<string, string>> = {
  note_post: 'note_tweet',
  referenced_posts: 'referenced_tweets.id',
  edit_history_post_ids: 'edit_history_tweet_ids',
};
export const toTweetName = (name: string) => tweetNames[name] ?? name;

const postNames: Readonly<Record<string, string>> = {
  tweets: 'posts',
  note_tweet: 'note_post',
  referenced_tweets: 'referenced_posts',
  edit_history_tweet_ids: 'edit_history_post_ids',
  retweet_count: 'repost_count',
  tweet_count: 'post_count',
};

/** An answer in the words of the `post` dialect. */
export function inPostNames<Value>(value: Value): Value;
export function inPostNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inPostNames);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [postNames[key] ?? key, inPostNames(one)]),
  );
}
