import { createHash } from 'node:crypto';
import { createPageMatcher, type Node } from '@earshot/query';
import { isJsonObject, isStringArray, type JsonObject } from '../http/json.ts';
import { wordsOf } from '../match/words.ts';

export interface Chunk {
  readonly typ: string;
  readonly text: string;
}

/** A crawled page. Rules are evaluated on all of it; `wire` is the part that an event carries. */
export interface FirehosePage {
  readonly url: string;
  readonly chunks: Chunk[];
  readonly wire: JsonObject;
  readonly keys: ReadonlySet<string>;
  matches(rule: Node): boolean;
  readonly isNsfw: boolean;
  readonly publishedAtMs: number | undefined;
  readonly matchedAtMs: number;
  /** Pages with the same URL and diff are charged once. */
  readonly chargeKey: string;
}

/**
 * Builds a page from the record of the control API (README.md). Only `url` is required. A missing `publish_time` becomes now;
 * null means unknown. Returns a message instead when the record is not valid.
 */
export function buildPage(input: unknown, nowMs: number): FirehosePage | string {
  if (!isJsonObject(input) || typeof input['url'] !== 'string') return 'a page needs a url';
  const { url } = input;
  if (!URL.canParse(url)) return `not a url: ${url}`;
  const chunks = readChunks(input['chunks']);
  if (chunks === undefined) return 'chunks is a list of {"typ": "ins" or "del", "text": string}';
  const publishTime = input['publish_time'] === undefined ? toLocalTime(nowMs) : input['publish_time'];
  const pageCategory = stringsOf(input['page_category']);
  const metadata: JsonObject = {
    url,
    title: input['title'],
    publish_time: publishTime,
    page_category: pageCategory,
    page_types: stringsOf(input['page_types']),
    language: input['language'],
    domain_rating: input['domain_rating'],
  };
  const whole = { ...metadata, chunks, anchors: input['anchors'], matched_at: new Date(nowMs).toISOString() };
  return {
    url,
    chunks,
    wire: withoutEmpty({ ...metadata, diff: chunks.length > 0 ? { chunks } : undefined }),
    // The parsed host can differ from the one written in the URL.
    keys: wordsOf([whole, new URL(url).hostname]),
    matches: createPageMatcher(whole),
    isNsfw: input['nsfw'] === true || pageCategory.some((category) => category.startsWith('/Adult')),
    publishedAtMs: fromLocalTime(publishTime),
    matchedAtMs: nowMs,
    chargeKey: createHash('sha256')
      .update(JSON.stringify([url, chunks]))
      .digest('base64'),
  };
}

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

/** Date and time without a zone, in UTC. */
export function toLocalTime(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19);
}

function fromLocalTime(text: unknown): number | undefined {
  const atMs = typeof text === 'string' ? Date.parse(`${text}Z`) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}

function stringsOf(value: unknown): string[] {
  return isStringArray(value) ? value : [];
}

function withoutEmpty(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}
