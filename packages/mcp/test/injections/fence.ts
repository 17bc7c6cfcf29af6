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
const unseen =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ue000-\uf8ff\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{10ffff}]|\p{Cs}/u;

export function unseenIn({ text, structuredContent }: ReceivedMatches): string | undefined {
  const strings: string[] = [text];
  JSON.stringify(structuredContent, (_key, value: unknown) => {
    if (typeof value === 'string') strings.push(value);
    return value;
  });
  const found = strings.map((value) => unseen.exec(value)?.[0]).find((character) => character !== undefined);
  return found === undefined ? undefined : `U+${found.codePointAt(0)?.toString(16)}`;
}

/** What a match's tags and markup begin with, and a chat template's: strangers' words must not have it. */
export const markupIn = (words: string): boolean => /<[/!?]?\p{L}|<[|｜]|!\[/u.test(words);
