import { entityPatterns } from '@earshot/query';
import { hashOf } from '../hash.ts';
import { isJsonObject, type JsonObject, textOf } from '../http/json.ts';

/** The entities X would find in the text; offsets are code points (x.md §4.3). */
export function findEntities(text: string): JsonObject {
  const hashtags = find(text, entityPatterns.hashtag, (tag) => ({ tag }));
  const cashtags = find(text, entityPatterns.cashtag, (tag) => ({ tag }));
  const mentions = find(text, entityPatterns.mention, (username) => ({ username, id: userIdOf(username) }));
  const urls = find(text, entityPatterns.link, (_value, url) => ({
    url,
    expanded_url: url,
    display_url: url.replace(/^https?:\/\//, ''),
  }));
  const kinds = { hashtags, cashtags, mentions, urls };
  return Object.fromEntries(Object.entries(kinds).filter(([, found]) => found.length > 0));
}

/** The mentioned usernames in lower case. */
export function mentionedNames({ entities }: JsonObject): Set<string> {
  const mentions = isJsonObject(entities) ? entities['mentions'] : [];
  const known = Array.isArray(mentions) ? mentions.filter(isJsonObject) : [];
  return new Set(known.map((mention) => textOf(mention['username']).toLowerCase()));
}

/** A username always gets the same id, so that `from:` works with both. */
export function userIdOf(username: string): string {
  return String(1_000_000_000 + hashOf(username.toLowerCase()));
}

function find(
  text: string,
  pattern: RegExp,
  describe: (value: string, whole: string) => JsonObject,
): JsonObject[] {
  return Array.from(text.matchAll(pattern), (found) => {
    const start = codePoints(text.slice(0, found.index));
    return { start, end: start + codePoints(found[0]), ...describe(found[1] ?? '', found[0]) };
  });
}

function codePoints(text: string): number {
  return Array.from(text).length;
}
