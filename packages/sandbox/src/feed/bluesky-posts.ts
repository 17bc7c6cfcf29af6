import { cidOf, didOf } from '../bluesky/ids.ts';
import { type Change, type Commit, postCollection } from '../bluesky/publish.ts';
import { findFacets } from '../bluesky/records.ts';
import type { JsonObject } from '../http/json.ts';
import type { Random } from '../random.ts';
import { type Person, people } from './people.ts';
import { pickAuthor, repliesByLang, writeText } from './posts.ts';
import { allTopics } from './topics.ts';

/** A post that later changes can reply to, quote, like or delete. */
export interface PublishedPost {
  readonly uri: string;
  readonly cid: string;
  readonly did: string;
  readonly lang: string;
  readonly handle: string;
  /** The first post of the thread; undefined if it is this one. */
  readonly root: Reference | undefined;
}

interface Reference {
  readonly cid: string;
  readonly uri: string;
}

interface Draft {
  readonly commit: Commit;
  readonly lang: string;
  readonly handle: string;
  readonly root?: Reference;
}

const shares = { reply: 0.35, quote: 0.08, like: 0.4, follow: 0.1, deletion: 0.05, identity: 0.01 };

/** Writes posts, and the other changes of a network in which people post, like, follow and delete. */
export function createBlueskyWriter(random: Random) {
  return {
    writePost(earlier: PublishedPost | undefined, nowMs: number): Draft {
      const place = random.fraction();
      if (earlier === undefined || place > shares.reply + shares.quote) return writeOriginal(random, nowMs);
      return writeReaction(random, place < shares.reply ? 'reply' : 'quote', earlier, nowMs);
    },
    /** What others do about an earlier post. */
    writeOthers(earlier: PublishedPost, nowMs: number): Change[] {
      const person = random.pick([people[0] ?? fallback, ...people.slice(1)]);
      const createdAt = writtenAt(random, nowMs);
      const { uri, cid, did } = earlier;
      const like = { $type: 'app.bsky.feed.like', createdAt, subject: { cid, uri } };
      const follow = { $type: 'app.bsky.graph.follow', createdAt, subject: did };
      return [
        ...(random.chance(shares.like) ? [create(person, like)] : []),
        ...(random.chance(shares.follow) ? [create(person, follow)] : []),
        ...(random.chance(shares.identity) ? [identityOf(person)] : []),
      ];
    },
    isDeletion: () => random.chance(shares.deletion),
  };
}

const fallback: Person = {
  username: 'someone',
  name: '',
  lang: 'en',
  topics: '',
  verified: false,
  description: '',
};

function identityOf(person: Person): Change {
  const handle = handleOf(person);
  return { kind: 'identity', did: didOf(handle), detail: { handle } };
}

function create(person: Person, record: JsonObject & { readonly $type: string }): Commit {
  const did = didOf(handleOf(person));
  return { kind: 'commit', did, operation: 'create', collection: record.$type, rkey: undefined, record };
}

function writeOriginal(random: Random, nowMs: number): Draft {
  const topic = random.pick(allTopics);
  const person = pickAuthor(random, topic);
  const text = writeText(random, topic, person.lang);
  const link = /https:\S+/.exec(text)?.[0];
  const embed =
    link !== undefined && random.chance(0.6)
      ? external(link, topic.name)
      : random.chance(0.15)
        ? images(text)
        : undefined;
  return draft(random, person, { text, ...(embed && { embed }) }, nowMs);
}

function writeReaction(
  random: Random,
  kind: 'reply' | 'quote',
  { uri, cid, lang, handle, root = { cid, uri } }: PublishedPost,
  nowMs: number,
): Draft {
  const speakers = people.filter((person) => person.lang === lang && handleOf(person) !== handle);
  const person = random.pick([speakers[0] ?? fallback, ...speakers.slice(1)]);
  const comment = random.pick(repliesByLang[lang] ?? ['👀']);
  const reference = { cid, uri };
  if (kind === 'quote')
    return draft(
      random,
      person,
      { text: comment, embed: { $type: 'app.bsky.embed.record', record: reference } },
      nowMs,
    );
  const text = random.chance(0.2) ? `@${handle} ${comment}` : comment;
  return { ...draft(random, person, { text, reply: { parent: reference, root } }, nowMs), root };
}

function draft(random: Random, person: Person, fields: JsonObject & { text: string }, nowMs: number): Draft {
  const facets = findFacets(fields.text);
  const record = {
    $type: postCollection,
    createdAt: writtenAt(random, nowMs),
    langs: [person.lang],
    ...(facets.length > 0 && { facets }),
    ...fields,
  };
  return { commit: create(person, record), lang: person.lang, handle: handleOf(person) };
}

/** A record is some time old when the server sees it. */
function writtenAt(random: Random, nowMs: number): string {
  return new Date(nowMs - random.integer(100, 3_000)).toISOString();
}

function handleOf({ username }: Person): string {
  return `${username.replaceAll('_', '-')}.bsky.example`;
}

function external(uri: string, title: string): JsonObject {
  const thumb = blob(uri, 119_635);
  return { $type: 'app.bsky.embed.external', external: { description: '', thumb, title, uri } };
}

function images(text: string): JsonObject {
  const image = { alt: '', aspectRatio: { height: 1_500, width: 2_000 }, image: blob(text, 720_303) };
  return { $type: 'app.bsky.embed.images', images: [image] };
}

function blob(content: string, size: number): JsonObject {
  return { $type: 'blob', mimeType: 'image/jpeg', ref: { $link: cidOf('blob', content) }, size };
}
