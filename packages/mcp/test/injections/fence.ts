/** A tool result with matches, as a client got it. */
export interface ReceivedMatches {
  readonly text: string;
  readonly structuredContent: unknown;
}

/** What of a result strangers wrote, and what is left without it. */
export interface Separated {
  readonly nonce: string;
  readonly insides: readonly string[];
  readonly contents: readonly unknown[];
  /** What is left of the text, and of both forms, without them and without the nonce. */
  readonly outsideText: string;
  readonly outside: string;
}

const tag = /<\/?untrusted-content-[^>\n]*>?/gi;

/**
 * Takes a result apart at its fences, and is not forgiving: each match has one opening and one closing tag, each alone
 * on its line, in turns, with one nonce that strangers' words do not contain.
 */
export function separate(received: ReceivedMatches): Separated {
  const { matches, ...rest } = received.structuredContent as { matches: Array<Record<string, unknown>> };
  const contents = matches.map(({ content }) => content as Record<string, unknown>);
  if (contents.some((content) => content['untrusted'] !== true))
    throw new Error('content that is not marked');
  const tags = received.text.match(tag) ?? [];
  const nonce = /[0-9]{39}/.exec(tags[0] ?? '')?.[0] ?? '';
  const expected = contents.flatMap(() => [`<untrusted-content-${nonce}>`, `</untrusted-content-${nonce}>`]);
  if (tags.join() !== expected.join()) throw new Error(`forged: ${tags.join(' ')}`);
  const insides: string[] = [];
  const outsideText = received.text.replace(
    /^<untrusted-content-[0-9]+>\n([\s\S]*?)\n<\/untrusted-content-[0-9]+>$/gm,
    (_block, inside: string) => {
      insides.push(inside);
      return '<fenced>';
    },
  );
  if (insides.length !== contents.length) throw new Error('a tag does not stand alone on its line');
  if (nonce !== '' && JSON.stringify([insides, contents]).includes(nonce))
    throw new Error('a stranger knows the nonce');
  const blanked = matches.map((match) => ({ ...match, content: '<untrusted>' }));
  return {
    nonce,
    insides,
    contents,
    outsideText,
    outside: `${outsideText}\n${JSON.stringify({ ...rest, matches: blanked }, null, 1)}`,
  };
}

/** Written down apart from the code that makes them visible: what nobody must find in a result. */
const unseenRanges: ReadonlyArray<readonly [number, number]> = [
  [0x00, 0x09],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200c],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x2800, 0x2800],
  [0x3164, 0x3164],
  [0xd800, 0xf8ff],
  [0xfe00, 0xfe0e],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffc],
  [0xfffe, 0xffff],
  [0x1d159, 0x1d159],
  [0x1d173, 0x1d17a],
  [0xe0000, 0x10ffff],
];

const isUnseen = (character: string): boolean => {
  const code = character.codePointAt(0) ?? 0;
  return unseenRanges.some(([from, to]) => code >= from && code <= to);
};

export function unseenIn({ text, structuredContent }: ReceivedMatches): string | undefined {
  const strings: string[] = [text];
  JSON.stringify(structuredContent, (_key, value: unknown) => {
    if (typeof value === 'string') strings.push(value);
    return value;
  });
  const found = strings.flatMap((value) => Array.from(value)).find(isUnseen);
  return found === undefined ? undefined : `U+${found.codePointAt(0)?.toString(16)}`;
}

/** What a match's tags and markup begin with, and a chat template's: strangers' words must not have it. */
export const markupIn = (words: string): boolean => /<[/!?]?\p{L}|<[|｜]|!\[/u.test(words);
