/** What no reader sees, or what makes it see something else than is there. */
const invisible =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}\u{fffc}\u{1d159}]/u;

/** What joins emoji to one picture may stay, where it does that: everything else hides data. */
const emojiParts =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\u{fe0f}?)\u{200d}(?=\p{Extended_Pictographic})|(?<=\p{Extended_Pictographic})\u{fe0f}|(?<=[#*0-9])\u{fe0f}(?=\u{20e3})/u;

const escaped = new RegExp(`(${emojiParts.source})|(${invisible.source})`, 'gu');

/**
 * The beginning of markup: tags, our own fence among them, the control tokens of chat templates (`<|`), and images,
 * which some clients fetch as soon as they show them.
 */
const markup = /<(?=[/!?]?\p{L}|[|｜])|(?<=!)\[/gu;

const codeOf = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/**
 * Strangers' words with everything unseen written out as `\u{202e}`, and without the beginning of any markup. Line
 * ends stay when `lines` says so; every other kind of space becomes a plain one.
 */
export function visible(text: string, options: { lines?: boolean } = {}): string {
  return unhidden(text, options).replace(markup, codeOf);
}

/** For the account's own words, which may use markup but hide nothing: another agent may have been talked into them. */
export function unhidden(text: string, { lines = false }: { lines?: boolean } = {}): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(/[\t\p{Zs}]/gu, ' ')
    .replace(escaped, (character: string, joiner: string | undefined) => {
      if (joiner !== undefined || (lines && character === '\n')) return character;
      return codeOf(character);
    });
}
