import { isJsonObject, type JsonObject, textOf } from '../http/json.ts';
import { wordsOf } from '../match/words.ts';
import type { NextSnowflake } from '../snowflake.ts';
import { findEntities, userIdOf } from './entities.ts';

export interface XIncludes {
  readonly users: JsonObject[];
  readonly tweets: JsonObject[];
  readonly media: JsonObject[];
  readonly places: JsonObject[];
}

/** A post with every field. Rules are evaluated on all of it; a connection gets the fields that it requested. */
export interface XPost {
  readonly id: string;
  readonly data: JsonObject;
  readonly includes: XIncludes;
  readonly keys: ReadonlySet<string>;
}

interface BuildDeps {
  readonly nowMs: () => number;
  readonly nextId: NextSnowflake;
}

/**
 * Adds the missing fields to an injected post. Only `text` is required. `author` and `includes` become expansions;
 * every other field is delivered as given. Returns a message instead when the input is not valid.
 */
export function buildPost(input: unknown, { nowMs, nextId }: BuildDeps): XPost | string {
  if (!isJsonObject(input) || typeof input['text'] !== 'string') return 'a post needs a text';
  const { text, author: givenAuthor, includes: givenIncludes, id: givenId, ...given } = input;
  if (givenId !== undefined && (typeof givenId !== 'string' || !/^[0-9]{1,19}$/.test(givenId))) {
    return 'the id of a post is a string of 1 to 19 digits';
  }
  const createdAtMs = given['created_at'] === undefined ? nowMs() : Date.parse(textOf(given['created_at']));
  if (Number.isNaN(createdAtMs)) return 'created_at is not a date';

  const id = givenId ?? nextId(createdAtMs);
  const author = buildAuthor(isJsonObject(givenAuthor) ? givenAuthor : {});
  const includes = buildIncludes(isJsonObject(givenIncludes) ? givenIncludes : {}, author);
  const data: JsonObject = {
    lang: 'en',
    conversation_id: id,
    entities: findEntities(text),
    possibly_sensitive: false,
    reply_settings: 'everyone',
    public_metrics: { retweet_count: 0, reply_count: 0, like_count: 0, quote_count: 0 },
    edit_history_tweet_ids: [id],
    ...given,
    created_at: new Date(createdAtMs).toISOString(),
    author_id: author['id'],
    id,
    text,
  };
  return {
    id,
    data,
    includes,
    // Not kept: with its keys, a post in the archive would be about twice as large.
    get keys() {
      return wordsOf({ data, includes });
    },
  };
}

function buildAuthor(given: JsonObject): JsonObject {
  const username = typeof given['username'] === 'string' ? given['username'] : 'sandbox_user';
  return { id: userIdOf(username), name: username, verified: false, ...given, username };
}

function buildIncludes(given: JsonObject, author: JsonObject): XIncludes {
  const objects = (name: string) => {
    const value = given[name];
    return Array.isArray(value) ? value.filter(isJsonObject) : [];
  };
  const others = objects('users').filter((user) => user['id'] !== author['id']);
  return {
    users: [author, ...others],
    tweets: objects('tweets').map((tweet) => ({ entities: findEntities(textOf(tweet['text'])), ...tweet })),
    media: objects('media'),
    places: objects('places'),
  };
}
