import { isJsonObject, type JsonObject } from '../http/json.ts';
import { projectionValues, toTweetName, type XDialect } from './dialects.ts';
import { mentionedNames } from './entities.ts';
import type { XIncludes, XPost } from './post.ts';
import type { XProblems } from './problems.ts';
import type { XRule } from './rule-set.ts';

/** The fields that a request selects (x.md §4.1). */
export type Projection = ReturnType<typeof readProjection>;

interface ProjectionOptions {
  readonly dialect?: XDialect;
  /** Those that do not belong to the projection. */
  readonly otherParameters?: readonly string[];
}

/** Reads the fields and expansions of a request. */
export function readProjection(
  query: URLSearchParams,
  problems: Pick<XProblems, 'invalidParameter'>,
  { dialect = 'tweet', otherParameters = [] }: ProjectionOptions = {},
) {
  for (const [parameter, value] of query) {
    if (otherParameters.includes(parameter)) continue;
    const allowed = projectionValues[dialect][parameter];
    if (allowed === undefined) throw problems.invalidParameter(parameter, value);
    const unknown = value.split(',').find((field) => !allowed.has(field));
    if (unknown !== undefined) throw problems.invalidParameter(parameter, unknown);
  }
  const fields = (parameter: string): ReadonlySet<string> =>
    new Set(query.get(parameter)?.split(',').map(toTweetName));
  return {
    tweetFields: fields(`${dialect}.fields`),
    expansions: fields('expansions'),
    userFields: fields('user.fields'),
    mediaFields: fields('media.fields'),
    placeFields: fields('place.fields'),
  };
}

const defaultTweetFields = ['id', 'text', 'edit_history_tweet_ids'];
const expansionFields: Record<string, string> = {
  author_id: 'author_id',
  in_reply_to_user_id: 'in_reply_to_user_id',
  'referenced_tweets.id': 'referenced_tweets',
  'attachments.media_keys': 'attachments',
  'geo.place_id': 'geo',
};

export function project(post: XPost, rules: readonly XRule[], wanted: Projection): JsonObject {
  // An expansion also adds the field that it expands.
  const expanded = [...wanted.expansions].flatMap((expansion) => expansionFields[expansion] ?? []);
  const tweetFields = new Set([...defaultTweetFields, ...wanted.tweetFields, ...expanded]);
  const includes = projectIncludes(post, wanted, tweetFields);
  return {
    data: pick(post.data, tweetFields),
    ...(Object.keys(includes).length > 0 && { includes }),
    matching_rules: rules.map(({ id, tag }) => (tag === undefined ? { id } : { id, tag })),
  };
}

function projectIncludes(post: XPost, wanted: Projection, tweetFields: ReadonlySet<string>): JsonObject {
  const { expansions } = wanted;
  const { includes } = post;
  const tweets = expansions.has('referenced_tweets.id') ? includes.tweets : [];
  const media = expansions.has('attachments.media_keys') ? includes.media : [];
  const places = expansions.has('geo.place_id') ? includes.places : [];
  const lists: Record<string, JsonObject[]> = {
    users: usersWanted(post, expansions, includes).map((user) =>
      pick(user, new Set(['id', 'name', 'username', ...wanted.userFields])),
    ),
    tweets: tweets.map((tweet) => pick(tweet, tweetFields)),
    media: media.map((one) => pick(one, new Set(['media_key', 'type', ...wanted.mediaFields]))),
    places: places.map((place) => pick(place, new Set(['id', 'full_name', ...wanted.placeFields]))),
  };
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}

function usersWanted(post: XPost, expansions: ReadonlySet<string>, includes: XIncludes): JsonObject[] {
  const ids = new Set<unknown>();
  if (expansions.has('author_id')) ids.add(post.data['author_id']);
  if (expansions.has('in_reply_to_user_id')) ids.add(post.data['in_reply_to_user_id']);
  if (expansions.has('referenced_tweets.id.author_id')) {
    for (const tweet of includes.tweets) ids.add(tweet['author_id']);
  }
  const byName = expansions.has('entities.mentions.username') ? mentionedNames(post.data) : new Set();
  return includes.users.filter(
    (user) => ids.has(user['id']) || byName.has(String(user['username']).toLowerCase()),
  );
}

function pick(source: JsonObject, fields: ReadonlySet<string>): JsonObject {
  const picked: JsonObject = {};
  for (const field of fields) {
    const value = source[field];
    const isEmpty = isJsonObject(value) && Object.keys(value).length === 0;
    if (value !== undefined && value !== null && !isEmpty) picked[field] = value;
  }
  return picked;
}
