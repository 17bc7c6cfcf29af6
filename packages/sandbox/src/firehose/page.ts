import { createHash } from 'node:crypto';
import { isJsonObject, isStringArray, type JsonObject, textOf } from '../http/json.ts';
import type { FirehoseDocument } from '../match/firehose-document.ts';
import { tokenize, toSearchLine } from '../match/tokens.ts';

/** A crawled page with everything rules can look at; `wire` is the part of it that an event carries. */
export type FirehosePage = {
  url: string;
  wire: JsonObject;
  document: FirehoseDocument;
  isNsfw: boolean;
  /** The same page with the same change is charged once. */
  chargeKey: string;
};

/**
 * Reads the page record of firehose.md §14. Only `url` is needed. `publish_time` becomes now when it is left
 * out and stays unknown when it is null. Returns words about what is wrong instead of a page it cannot build.
 */
export function buildPage(input: unknown, nowMs: number): FirehosePage | string {
  if (!isJsonObject(input) || typeof input['url'] !== 'string') return 'a page needs a url';
  const { url } = input;
  if (!URL.canParse(url)) return `not a url: ${url}`;
  const chunks = readChunks(input['chunks']);
  if (chunks === undefined) return 'chunks is a list of {"typ": "ins" or "del", "text": string}';
  const publishTime = input['publish_time'] === undefined ? toLocalTime(nowMs) : input['publish_time'];
  const pageCategory = stringsOf(input['page_category']);
  const wire: JsonObject = {
    url,
    title: input['title'],
    publish_time: publishTime,
    diff: chunks.length > 0 ? { chunks } : undefined,
    page_category: pageCategory,
    page_types: stringsOf(input['page_types']),
    language: input['language'],
    domain_rating: input['domain_rating'],
  };
  return {
    url,
    wire: withoutEmpty(wire),
    document: toFirehoseDocument(wire, chunks, input['anchors'], nowMs),
    isNsfw: input['nsfw'] === true || pageCategory.some((category) => category.startsWith('/Adult')),
    chargeKey: createHash('sha256')
      .update(JSON.stringify([url, chunks]))
      .digest('base64'),
  };
}

type Chunk = { typ: string; text: string };

function readChunks(given: unknown): Chunk[] | undefined {
  if (given === undefined) return [];
  if (!Array.isArray(given)) return undefined;
  const chunks = given.flatMap((chunk: unknown) =>
    isJsonObject(chunk) && typeof chunk['typ'] === 'string' && typeof chunk['text'] === 'string'
      ? [{ typ: chunk['typ'], text: chunk['text'] }]
      : [],
  );
  return chunks.length === given.length ? chunks : undefined;
}

function toFirehoseDocument(
  wire: JsonObject,
  chunks: readonly Chunk[],
  anchors: unknown,
  matchedAtMs: number,
): FirehoseDocument {
  const chunkText = (typ: string) =>
    chunks.flatMap((chunk) => (chunk.typ === typ ? [chunk.text] : [])).join(' ');
  const anchorText = (kind: string) => stringsOf(isJsonObject(anchors) ? anchors[kind] : undefined).join(' ');
  const tokens: { [field: string]: string[] } = {
    added: tokenize(chunkText('ins')),
    removed: tokenize(chunkText('del')),
    added_anchor: tokenize(anchorText('added')),
    removed_anchor: tokenize(anchorText('removed')),
    title: tokenize(textOf(wire['title'])),
  };
  const url = String(wire['url']);
  const keywords: { [field: string]: string[] } = {
    url: [url],
    domain: domainsOf(new URL(url).hostname),
    language: stringsOf([wire['language']]),
    page_category: stringsOf(wire['page_category']),
    page_type: stringsOf(wire['page_types']),
    publish_time: stringsOf([wire['publish_time']]),
  };
  const rating = wire['domain_rating'];
  const published = Date.parse(`${String(wire['publish_time'])}Z`);
  return {
    text: mapValues(tokens, toSearchLine),
    keywords,
    domainRating: typeof rating === 'number' ? rating : undefined,
    publishedAtMs: Number.isNaN(published) ? undefined : published,
    matchedAtMs,
    keys: new Set([...keysOf(tokens), ...keysOf(keywords)]),
  };
}

/** The host, the host without `www.`, and every parent of at least two labels (firehose.md §12.1). */
function domainsOf(host: string): string[] {
  const labels = host.split('.');
  return labels
    .slice(0, Math.max(1, labels.length - 1))
    .map((_label, index) => labels.slice(index).join('.'));
}

/** Local date-time without zone; the sandbox lives in UTC. */
export function toLocalTime(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19);
}

function stringsOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value.filter((item) => item !== undefined && item !== null) : [];
  return isStringArray(list) ? list : [];
}

function withoutEmpty(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function keysOf(fields: { [field: string]: string[] }): string[] {
  return Object.entries(fields).flatMap(([field, values]) => values.map((value) => `${field}:${value}`));
}

function mapValues<From, To>(
  object: { [key: string]: From },
  map: (value: From) => To,
): { [key: string]: To } {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}
