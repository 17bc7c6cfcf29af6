import { isJsonObject, type JsonObject, textOf } from '../http/json.ts';
import { tokenize, toSearchLine } from '../match/tokens.ts';
import type { XDocument } from '../match/x-document.ts';
import { findEntities } from './entities.ts';

export type XIncludes = {
  users: JsonObject[];
  tweets: JsonObject[];
  media: JsonObject[];
  places: JsonObject[];
};

/**
 * What the matcher looks at. A retweet is judged by the text of the original and a quote also by the quoted
 * Post, when they are in `includes` (x.md §10.2 and §11).
 */
export function toXDocument(data: JsonObject, author: JsonObject, includes: XIncludes): XDocument {
  const references = objects(data['referenced_tweets']);
  const referenced = (type: string) =>
    references
      .filter((reference) => reference['type'] === type)
      .flatMap(({ id }) => includes.tweets.filter((tweet) => tweet['id'] === id));
  const contents = [data, ...referenced('retweeted'), ...referenced('quoted')];
  const entities = contents.map(entitiesOf);
  const collect = (kind: string, field: string) =>
    entities.flatMap((one) => objects(one[kind]).map((entity) => textOf(entity[field]).toLowerCase()));

  const hashtags = new Set(collect('hashtags', 'tag'));
  const cashtags = new Set(collect('cashtags', 'tag'));
  const mentions = new Set(collect('mentions', 'username'));
  const urls = [...collect('urls', 'url'), ...collect('urls', 'expanded_url')];
  const tokens = tokenize([...contents.map(fullText), ...urls].join(' '));
  const authorNames = names(author);
  const known = new Set(tokens);
  return {
    id: String(data['id']),
    tokens: known,
    searchLine: toSearchLine(tokens),
    hashtags,
    cashtags,
    mentions,
    author: authorNames,
    inReplyTo: includes.users.filter(({ id }) => id === data['in_reply_to_user_id']).flatMap(names),
    retweetOf: referenced('retweeted').flatMap((tweet) =>
      includes.users.filter(({ id }) => id === tweet['author_id']).flatMap(names),
    ),
    conversationId: String(data['conversation_id']),
    lang: String(data['lang']).toLowerCase(),
    urls,
    bio: toSearchLine(tokenize(textOf(author['description']))),
    flags: new Set(findFlags(data, author, includes, { hashtags, cashtags, mentions, urls: new Set(urls) })),
    keys: new Set([
      ...known,
      ...prefixed('hashtag', hashtags),
      ...prefixed('cashtag', cashtags),
      ...prefixed('mention', mentions),
      ...prefixed('from', authorNames),
    ]),
  };
}

type Found = { hashtags: Set<string>; cashtags: Set<string>; mentions: Set<string>; urls: Set<string> };

function findFlags(data: JsonObject, author: JsonObject, includes: XIncludes, found: Found): string[] {
  const types = new Set(objects(data['referenced_tweets']).map((reference) => reference['type']));
  const media = new Set(includes.media.map((one) => one['type']));
  const flags: Array<[string, boolean]> = [
    ['is:retweet', types.has('retweeted')],
    ['is:reply', types.has('replied_to')],
    ['is:quote', types.has('quoted')],
    ['is:verified', author['verified'] === true],
    ['has:hashtags', found.hashtags.size > 0],
    ['has:cashtags', found.cashtags.size > 0],
    ['has:mentions', found.mentions.size > 0],
    ['has:links', found.urls.size > 0 || media.size > 0],
    ['has:media', media.size > 0],
    ['has:media_link', media.size > 0],
    ['has:images', media.has('photo')],
    ['has:video_link', media.has('video')],
    ['has:videos', media.has('video')],
    ['has:geo', isJsonObject(data['geo'])],
  ];
  return flags.flatMap(([flag, holds]) => (holds ? [flag] : []));
}

function fullText(post: JsonObject): string {
  const note = post['note_tweet'];
  return textOf(isJsonObject(note) ? note['text'] : post['text']);
}

function entitiesOf(post: JsonObject): JsonObject {
  return isJsonObject(post['entities']) ? post['entities'] : findEntities(fullText(post));
}

function names(user: JsonObject): string[] {
  return [textOf(user['username']).toLowerCase(), textOf(user['id'])];
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function prefixed(name: string, values: Iterable<string>): string[] {
  return Array.from(values, (value) => `${name}:${value}`);
}
