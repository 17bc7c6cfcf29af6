import { fields, line } from './read-answer.ts';

/** A result, split into untrusted content and the rest. */
export interface Separated {
  readonly nonce: string;
  /** The untrusted content, match by match. */
  readonly insides: readonly string[];
  /** The text without the untrusted content and the nonce. */
  readonly outside: string;
}

const tag = /<\/?untrusted-content-[^>\n]*>?/gi;

/**
 * Splits the text of a result at its fences, strictly. Opening and closing tags alternate, stand alone on their lines, and
 * have one nonce that the untrusted content does not contain. Within a fence, each line is a match that begins with Earshot's
 * part, or each line is a field of one match.
 */
export function separate(text: string): Separated {
  const tags = text.match(tag) ?? [];
  const nonce = /[0-9]{39}/.exec(tags[0] ?? '')?.[0] ?? '';
  const pair = [`<untrusted-content-${nonce}>`, `</untrusted-content-${nonce}>`];
  if (tags.some((found, index) => found !== pair[index % 2]) || tags.length % 2 !== 0)
    throw new Error(`forged: ${tags.join(' ')}`);
  const insides: string[] = [];
  let fences = 0;
  const outside = text.replace(
    /^<untrusted-content-[0-9]+>\n([\s\S]*?)\n<\/untrusted-content-[0-9]+>$/gm,
    (_block, inside: string) => {
      fences += 1;
      const lines = inside.split('\n');
      const isList = lines[0]?.startsWith('mat_') ?? false;
      if (!isList) insides.push(inside);
      const own = lines.map((one) => {
        const [, ours, theirs] = (isList ? line : fields).exec(one) ?? [];
        if (ours === undefined) throw new Error(`an unexpected line: ${one}`);
        if (isList) insides.push(theirs ?? '');
        return ours;
      });
      return isList ? own.join('\n') : '<fenced>';
    },
  );
  if (2 * fences !== tags.length) throw new Error('a tag does not stand alone on its line');
  if (nonce !== '' && insides.join().includes(nonce)) throw new Error('the content contains the nonce');
  return { nonce, insides, outside };
}

/** Characters that must not be in a result. Listed independently of the code that escapes them. */
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

export function unseenIn(text: string): string | undefined {
  const found = Array.from(text).find(isUnseen);
  return found === undefined ? undefined : `U+${found.codePointAt(0)?.toString(16)}`;
}

/** Whether the text has the beginning of markup, or of a control token of a chat template. */
export const markupIn = (text: string): boolean => /<[/!?]?\p{L}|<[|｜]|!\[/u.test(text);
