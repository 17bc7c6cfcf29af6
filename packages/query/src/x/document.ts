import { spend } from '../budget.ts';
import { once } from '../once.ts';
import { type TextToken, tokenize } from './tokenize.ts';

/** Unvalidated JSON. */
export type Json = Readonly<Record<string, unknown>>;

/** A string of the item in which words are searched; tokenized on first use. */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly tokens: () => readonly TextToken[];
}

export interface Post {
  readonly path: string;
  readonly data: Json;
}

export interface User {
  readonly path: string;
  readonly data: Json;
}

/** One delivered item with the parts that the operators need (x.md §12). */
export interface XDocument {
  readonly own: Post;
  /** The retweeted post, null when this is no retweet, undefined when it was not delivered. */
  readonly retweeted: Post | null | undefined;
  readonly quoted: Post | null | undefined;
  /** The posts that content operators search: the post itself or the retweeted one, and the quoted one. */
  readonly content: readonly Post[];
  /** False when a retweeted or quoted post is missing, so that a miss is not conclusive. */
  readonly complete: boolean;
  readonly texts: () => readonly Source[];
  readonly links: () => readonly Source[];
  readonly userById: (id: unknown) => User | undefined;
  readonly userByName: (name: string) => User | undefined;
  readonly media: (key: string) => Json | undefined;
  readonly place: (id: unknown) => Post | undefined;
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function field(value: unknown, name: string): unknown {
  return isJson(value) ? value[name] : undefined;
}

/** Charged, because the caller iterates over the list. */
export function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) return [];
  spend(stepsPerEntry * value.length);
  return value;
}

const stepsPerEntry = 40;
const stepsPerSource = 60;
/** Also bounds how deep the part can be nested. */
const stepsPerShown = 100;

/** A part of the item as evidence. Walks it first, because only then is the cost known. */
export function shownJson(value: unknown): string {
  const left = [value];
  while (left.length > 0) {
    const part = left.pop();
    spend(stepsPerShown + (typeof part === 'string' ? part.length : 0));
    if (typeof part === 'object' && part !== null) for (const child of Object.values(part)) left.push(child);
  }
  return JSON.stringify(value);
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function source(path: string, text: string): Source {
  spend(stepsPerSource);
  let tokens: readonly TextToken[] | null = null;
  return {
    path,
    text,
    tokens: () => {
      tokens ??= tokenize(text);
      return tokens;
    },
  };
}

/** X has renamed some "tweet" fields to "post" (x.md §4.3): reads both. */
export function either(
  value: unknown,
  name: string,
  newName: string,
): { readonly name: string; readonly value: unknown } {
  const old = field(value, name);
  return old === undefined && field(value, newName) !== undefined
    ? { name: newName, value: field(value, newName) }
    : { name, value: old };
}

export function references(post: Post, type: string): string[] {
  const { value } = either(post.data, 'referenced_tweets', 'referenced_posts');
  return list(value).flatMap((reference) => {
    const id = textOf(field(reference, 'id'));
    return field(reference, 'type') === type && id !== undefined ? [id] : [];
  });
}

export function createDocument(payload: unknown): XDocument {
  const includes = field(payload, 'includes');
  const data = field(payload, 'data');
  const own: Post = { path: 'data', data: isJson(data) ? data : {} };
  const included = either(includes, 'tweets', 'posts');
  const findPost = (id: string): Post | undefined => {
    const index = list(included.value).findIndex((candidate) => field(candidate, 'id') === id);
    const found = list(included.value)[index];
    return isJson(found) ? { path: `includes.${included.name}[${index}]`, data: found } : undefined;
  };
  const referenced = (post: Post, type: string): Post | null | undefined => {
    const [id] = references(post, type);
    return id === undefined ? null : findPost(id);
  };
  const retweeted = referenced(own, 'retweeted');
  const quoted = referenced(own, 'quoted') ?? (retweeted ? referenced(retweeted, 'quoted') : null);
  const missingQuote = references(own, 'quoted').length > 0 && !quoted;
  const content = [retweeted ?? own, ...(quoted ? [quoted] : [])];
  return {
    own,
    retweeted,
    quoted: missingQuote ? undefined : quoted,
    content,
    complete: retweeted !== undefined && quoted !== undefined && !missingQuote,
    texts: once(() => content.flatMap((post) => [mainText(post), ...linkTexts(post, isOfAuthor)])),
    links: once(() => content.flatMap((post) => linkTexts(post))),
    ...lookups(includes),
  };
}

function lookups(includes: unknown): Pick<XDocument, 'userById' | 'userByName' | 'media' | 'place'> {
  const find = (kind: string, matches: (candidate: unknown) => boolean): User | undefined => {
    const index = list(field(includes, kind)).findIndex(matches);
    const found = list(field(includes, kind))[index];
    return isJson(found) ? { path: `includes.${kind}[${index}]`, data: found } : undefined;
  };
  return {
    userById: (id) => (id === undefined ? undefined : find('users', (user) => field(user, 'id') === id)),
    userByName: (name) => find('users', (user) => textOf(field(user, 'username'))?.toLowerCase() === name),
    media: (key) => find('media', (item) => field(item, 'media_key') === key)?.data,
    place: (id) => (id === undefined ? undefined : find('places', (place) => field(place, 'id') === id)),
  };
}

/** A long post has its whole text in `note_tweet`; `text` then has only the beginning. */
function mainText(post: Post): Source {
  const note = either(post.data, 'note_tweet', 'note_post');
  const long = textOf(field(note.value, 'text'));
  if (long !== undefined) return source(`${post.path}.${note.name}.text`, long);
  return source(`${post.path}.text`, textOf(post.data['text']) ?? '');
}

export interface Entity {
  readonly path: string;
  readonly data: Json;
}

/** Entities of one kind, those of a long text included. */
export function entities(post: Post, kind: string): Entity[] {
  const note = either(post.data, 'note_tweet', 'note_post');
  const places = [
    [`${post.path}.entities.${kind}`, field(post.data['entities'], kind)],
    [`${post.path}.${note.name}.entities.${kind}`, field(field(note.value, 'entities'), kind)],
  ] as const;
  return places.flatMap(([path, found]) =>
    list(found).flatMap((data, index) => (isJson(data) ? [{ path: `${path}[${index}]`, data }] : [])),
  );
}

const linkFields = ['url', 'expanded_url', 'display_url', 'unwound_url'] as const;

/** X adds a link to the media of a post and to the post that it quotes. Their words are not the author's. */
function isOfAuthor({ data }: Entity): boolean {
  const target = textOf(data['expanded_url']) ?? textOf(data['url']) ?? '';
  return !/^https?:\/\/(?:www\.|mobile\.)?(?:x|twitter)\.com\/[^/]+\/status\/\d+/i.test(target);
}

function linkTexts(post: Post, isWanted: (link: Entity) => boolean = () => true): Source[] {
  return entities(post, 'urls')
    .filter(isWanted)
    .flatMap(({ path, data }) =>
      linkFields.flatMap((name) => {
        const text = textOf(data[name]);
        return text === undefined ? [] : [source(`${path}.${name}`, text)];
      }),
    );
}
