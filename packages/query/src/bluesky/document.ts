import type { LeafNode } from '../ast.ts';
import { spend } from '../budget.ts';
import { foldForMatch } from '../x/characters.ts';
import { field, isJson, type Source, source, textOf } from '../x/document.ts';
import { termOf, type Where } from '../x/evaluate/verdict.ts';
import { isDid } from './account.ts';
import { foldLanguage, languagesOf } from './languages.ts';
import { utf16Offsets } from './utf16-offsets.ts';

/** The parts of a post that decide operators. */
export type Part = 'author' | 'text' | 'tags' | 'mentions' | 'links' | 'langs' | 'reply' | 'quote' | 'images';

/** One post with everything that operators ask for. Built once for all rules. */
export interface BlueskyPost {
  readonly text: Source | null;
  readonly links: readonly Source[];
  /** What the post has, by the key of the leaf that it satisfies. */
  readonly facts: ReadonlyMap<string, Where>;
  /** Parts with a value of a wrong type or size: what they lack is not decided. */
  readonly malformed: ReadonlySet<Part>;
}

const partOf: Readonly<Record<string, Part>> = {
  keyword: 'text',
  hashtag: 'tags',
  mention: 'mentions',
  from: 'author',
  to: 'reply',
  url: 'links',
  lang: 'langs',
  'has:links': 'links',
  'has:images': 'images',
  'has:mentions': 'mentions',
  'has:hashtags': 'tags',
  'is:reply': 'reply',
  'is:quote': 'quote',
};

/** The part that decides an operator; undefined when none does. */
export function decidingPart({ field: name }: LeafNode): Part | undefined {
  return partOf[name];
}

/** The key under which a post has what the leaf asks for; undefined for words, which are searched. */
export function factOf(leaf: LeafNode): string | undefined {
  switch (leaf.field) {
    case 'keyword':
    case 'url':
      return undefined;
    case 'hashtag':
      return `#${foldForMatch(termOf(leaf))}`;
    case 'mention':
      return `@${termOf(leaf)}`;
    case 'from':
    case 'to':
      return `${leaf.field}:${termOf(leaf)}`;
    case 'lang':
      return `lang:${foldLanguage(termOf(leaf))}`;
    default:
      return leaf.field;
  }
}

/** The lexicon allows 3,000 bytes of text, 640 of a tag, and has no limits for facets. */
const textLengthMax = 3_000;
const tagLengthMax = 640;
const linkLengthMax = 2_048;
const linksLengthMax = 20_000;
const facetsMax = 100;
const featuresMax = 100;
const tagsMax = 50;
const langsMax = 20;

interface Reading {
  readonly facts: Map<string, Where>;
  readonly malformed: Set<Part>;
  readonly links: Source[];
}

export function createPost(payload: unknown): BlueskyPost {
  const reading: Reading = { facts: new Map(), malformed: new Set(), links: [] };
  readAuthor(reading, field(payload, 'did'));
  const record = field(payload, 'record');
  if (!isJson(record)) {
    for (const part of Object.values(partOf)) if (part !== 'author') reading.malformed.add(part);
    return { text: null, ...reading };
  }
  const text = readText(reading, record['text']);
  readFacets(reading, record['facets'], text);
  readTags(reading, record['tags']);
  readLangs(reading, record['langs']);
  readReply(reading, record['reply']);
  readEmbed(reading, record['embed']);
  return { text: text === null ? null : source('record.text', text), ...reading };
}

function add({ facts }: Reading, key: string, where: Where): void {
  if (!facts.has(key)) facts.set(key, where);
}

function readAuthor(reading: Reading, value: unknown): void {
  const did = didOf(value);
  if (did === null) reading.malformed.add('author');
  else add(reading, `from:${did}`, { path: 'did', value: String(value) });
}

function didOf(value: unknown): string | null {
  const text = textOf(value);
  if (text === undefined || text.length > 2_048) return null;
  const lower = text.toLowerCase();
  return isDid(lower) ? lower : null;
}

function readText({ malformed }: Reading, value: unknown): string | null {
  const text = textOf(value);
  if (text !== undefined && text.length <= textLengthMax) return text;
  malformed.add('text');
  return null;
}

const facetParts: readonly Part[] = ['tags', 'mentions', 'links'];
const stepsPerEntry = 40;

/** An absent list is empty. One that is too long is read in part. */
function readList(
  { malformed }: Reading,
  value: unknown,
  { max, parts }: { readonly max: number; readonly parts: readonly Part[] },
): readonly unknown[] {
  const isList = Array.isArray(value);
  if ((value !== undefined && !isList) || (isList && value.length > max))
    for (const part of parts) malformed.add(part);
  const entries: readonly unknown[] = isList ? value.slice(0, max) : [];
  spend(stepsPerEntry * entries.length);
  return entries;
}

function readFacets(reading: Reading, value: unknown, text: string | null): void {
  const offsets = text === null ? null : utf16Offsets(text);
  let left = featuresMax;
  for (const [index, facet] of readList(reading, value, { max: facetsMax, parts: facetParts }).entries()) {
    const features = field(facet, 'features');
    if (!Array.isArray(features)) {
      for (const part of facetParts) reading.malformed.add(part);
      continue;
    }
    for (const [at, feature] of readList(reading, features, { max: left, parts: facetParts }).entries()) {
      const path = `record.facets[${index}].features[${at}]`;
      readFeature(reading, feature, path, () => mentioned(text, offsets, field(facet, 'index')));
    }
    left -= Math.min(left, features.length);
  }
}

type Mentioned = { readonly handle: string; readonly where: Where } | null;

function readFeature(reading: Reading, feature: unknown, path: string, mention: () => Mentioned): void {
  switch (textOf(field(feature, '$type'))) {
    case 'app.bsky.richtext.facet#tag':
      return readTag(reading, field(feature, 'tag'), `${path}.tag`);
    case 'app.bsky.richtext.facet#link':
      return readLink(reading, field(feature, 'uri'), `${path}.uri`);
    case 'app.bsky.richtext.facet#mention':
      return readMention(reading, field(feature, 'did'), `${path}.did`, mention());
    case undefined:
      for (const part of facetParts) reading.malformed.add(part);
      return;
    default:
  }
}

function readTag(reading: Reading, value: unknown, path: string): void {
  const tag = textOf(value);
  if (tag === undefined || tag.length > tagLengthMax) return void reading.malformed.add('tags');
  spend(tag.length);
  add(reading, 'has:hashtags', { path, value: tag });
  add(reading, `#${foldForMatch(tag)}`, { path, value: tag });
}

function readLink(reading: Reading, value: unknown, path: string): void {
  const uri = textOf(value);
  if (uri === undefined || uri.length > linkLengthMax) return void reading.malformed.add('links');
  const lengthOfAll = reading.links.reduce((sum, { text }) => sum + text.length, uri.length);
  if (lengthOfAll > linksLengthMax) return void reading.malformed.add('links');
  add(reading, 'has:links', { path, value: uri });
  reading.links.push(source(path, uri));
}

function readMention(reading: Reading, value: unknown, path: string, mention: Mentioned): void {
  const did = didOf(value);
  if (did === null || mention === null) reading.malformed.add('mentions');
  if (did !== null) {
    add(reading, 'has:mentions', { path, value: did });
    add(reading, `@${did}`, { path, value: did });
  }
  if (mention === null) return;
  add(reading, 'has:mentions', mention.where);
  add(reading, `@${mention.handle}`, mention.where);
}

/** The text of a mention, which usually is a handle after an @. Facets count bytes of UTF-8. */
function mentioned(
  text: string | null,
  offsets: ((byte: unknown) => number | undefined) | null,
  index: unknown,
): Mentioned {
  const start = offsets?.(field(index, 'byteStart'));
  const end = offsets?.(field(index, 'byteEnd'));
  if (text === null || start === undefined || end === undefined || end <= start) return null;
  const value = text.slice(start, end);
  const handle = value.replace(/^[@＠]/u, '').toLowerCase();
  return { handle, where: { path: 'record.text', range: [start, end], value } };
}

function readTags(reading: Reading, value: unknown): void {
  for (const [index, tag] of readList(reading, value, { max: tagsMax, parts: ['tags'] }).entries())
    readTag(reading, tag, `record.tags[${index}]`);
}

function readLangs(reading: Reading, value: unknown): void {
  for (const [index, tag] of readList(reading, value, { max: langsMax, parts: ['langs'] }).entries()) {
    const languages = typeof tag === 'string' ? languagesOf(tag) : null;
    if (languages === null || typeof tag !== 'string') reading.malformed.add('langs');
    else
      for (const language of languages)
        add(reading, `lang:${language}`, { path: `record.langs[${index}]`, value: tag });
  }
}

function readReply(reading: Reading, value: unknown): void {
  if (value === undefined) return;
  if (!isJson(value)) return void reading.malformed.add('reply');
  const path = 'record.reply.parent.uri';
  const uri = textOf(field(value['parent'], 'uri'));
  const parent = uri === undefined ? null : didOf(postAuthor(uri));
  add(reading, 'is:reply', { path: uri === undefined ? 'record.reply' : path, value: uri ?? '' });
  if (parent === null || uri === undefined) reading.malformed.add('reply');
  else add(reading, `to:${parent}`, { path, value: uri });
}

/** The account in `at://did/collection/key`. */
function postAuthor(uri: string): string | undefined {
  return /^at:\/\/([^/]{1,2048})\//.exec(uri)?.[1];
}

const embedParts: readonly Part[] = ['links', 'quote', 'images'];

function readEmbed(reading: Reading, value: unknown): void {
  if (value === undefined) return;
  if (textOf(field(value, '$type')) !== 'app.bsky.embed.recordWithMedia')
    return readMedia(reading, value, 'record.embed', embedParts);
  readQuote(reading, field(field(value, 'record'), 'record'), 'record.embed.record.record');
  readMedia(reading, field(value, 'media'), 'record.embed.media', ['links', 'images']);
}

function readMedia(reading: Reading, value: unknown, path: string, parts: readonly Part[]): void {
  switch (textOf(field(value, '$type'))) {
    case 'app.bsky.embed.images':
      return readImages(reading, field(value, 'images'), `${path}.images`);
    case 'app.bsky.embed.gallery':
      return readImages(reading, field(value, 'items'), `${path}.items`);
    case 'app.bsky.embed.external':
      return readLink(reading, field(field(value, 'external'), 'uri'), `${path}.external.uri`);
    case 'app.bsky.embed.record':
      return readQuote(reading, field(value, 'record'), `${path}.record`);
    case undefined:
      for (const part of parts) reading.malformed.add(part);
      return;
    default:
  }
}

function readImages(reading: Reading, value: unknown, path: string): void {
  if (!Array.isArray(value)) return void reading.malformed.add('images');
  if (value.length > 0) add(reading, 'has:images', { path, value: `${value.length} images` });
}

/** Feeds, lists and starter packs are embedded in the same way as posts. */
function readQuote(reading: Reading, value: unknown, path: string): void {
  const uri = textOf(field(value, 'uri'));
  if (uri === undefined || uri.length > linkLengthMax) return void reading.malformed.add('quote');
  if (/^at:\/\/[^/]+\/app\.bsky\.feed\.post\//.test(uri))
    add(reading, 'is:quote', { path: `${path}.uri`, value: uri });
}
