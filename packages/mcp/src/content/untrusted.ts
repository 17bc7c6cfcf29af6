import type { Match } from '@earshot/sdk';
import { visible } from './visible.ts';

/** All untrusted fields of a match, and nothing else. The first six are always present. */
export interface UntrustedContent {
  readonly untrusted: true;
  readonly source: Match['platform'];
  readonly author: { readonly handle: string | null; readonly name: string | null } | null;
  readonly url: string | null;
  readonly published_at: string | null;
  readonly text: string | null;
  readonly title?: string;
  readonly post_id?: string;
  readonly language?: string;
  /** The words that matched. */
  readonly why?: readonly string[];
}

export interface Excerpt {
  readonly content: UntrustedContent;
  /** Names of the truncated parts, to be shown outside of the fence. */
  readonly cut: readonly string[];
}

export const textLengthMax = 4_000;

interface Sizes {
  readonly url: number;
  readonly title: number;
  readonly handle: number;
  readonly name: number;
  readonly language: number;
  readonly why: number;
  readonly whyCount: number;
  readonly measure: (written: string, characters: number) => number;
}

/** Maximum length of each part, in characters. */
const fullSizes: Sizes = {
  url: 300,
  title: 200,
  handle: 40,
  name: 80,
  language: 20,
  why: 60,
  whyCount: 4,
  measure: (_written, characters) => characters,
};
/** Always fits. Measured in bytes as written, because no text has more tokens than bytes. */
const bareSizes: Sizes = {
  url: 60,
  title: 0,
  handle: 20,
  name: 0,
  language: 0,
  why: 0,
  whyCount: 0,
  measure: (written) => Buffer.byteLength(written),
};

export interface ExcerptSize {
  /** Length of the text in code points, at most 4,000. */
  readonly textLength: number;
  readonly bare: boolean;
}

export function excerptOf(match: Match, { textLength, bare }: ExcerptSize): Excerpt {
  const { payload, platform, platform_post_id: postId, why } = match;
  const sizes = bare ? bareSizes : fullSizes;
  const cut: string[] = [];
  const part = (name: string, value: string | null, size: number): string | null => {
    if (value === null) return null;
    const written = beginning(value, size, sizes.measure);
    if (!written.whole) cut.push(name);
    return written.text;
  };
  const content: UntrustedContent = {
    untrusted: true,
    source: platform,
    author: payload.author && {
      handle: part('handle', payload.author.handle, sizes.handle),
      name: part('name', payload.author.name, sizes.name),
    },
    url: part('url', payload.url, sizes.url),
    published_at: part('published_at', payload.published_at, 40),
    ...present('title', part('title', payload.title, sizes.title)),
    // The id of a page is its URL.
    ...(postId === payload.url ? {} : present('post_id', part('post_id', postId, sizes.url))),
    ...present('language', part('language', payload.language, sizes.language)),
    ...whyOf(why.evidence, sizes),
    text: textOf(payload.text, textLength, cut),
  };
  return { content, cut };
}

function textOf(text: string | null, lengthWanted: number, cut: string[]): string | null {
  if (text === null) return null;
  const length = Math.min(lengthWanted, textLengthMax);
  const characters = firstCharacters(text, length);
  if (characters.length < text.length) {
    cut.unshift(`text: the first ${length} of ${lengthOf(text)} characters`);
  }
  return visible(characters, { lines: true });
}

function whyOf(evidence: Match['why']['evidence'], sizes: Sizes): { why?: string[] } {
  const first = evidence.slice(0, sizes.whyCount);
  const words = new Set(first.map(({ text }) => beginning(text, sizes.why, sizes.measure).text));
  return words.size === 0 ? {} : { why: [...words] };
}

function present<Name extends string>(name: Name, value: string | null): { [Key in Name]?: string } {
  return value === null || value === '' ? {} : ({ [name]: value } as { [Key in Name]: string });
}

/** The longest beginning that measures at most `size`. It never splits a character. */
function beginning(text: string, size: number, measure: Sizes['measure']): { text: string; whole: boolean } {
  for (let length = size; ; length -= 1) {
    const characters = firstCharacters(text, length);
    const written = visible(characters);
    if (measure(written, length) <= size) return { text: written, whole: characters.length === text.length };
  }
}

function firstCharacters(text: string, count: number): string {
  let end = 0;
  for (let taken = 0; taken < count && end < text.length; taken += 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}

export function lengthOf(text: string): number {
  let length = 0;
  for (const _character of text) length += 1;
  return length;
}
