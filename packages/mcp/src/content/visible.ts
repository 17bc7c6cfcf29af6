/** Invisible characters, and characters that change how others are displayed. */
const invisible =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}\u{fffc}\u{1d159}]/u;

/** Joiners and variation selectors are allowed inside emoji. Elsewhere they hide data. */
const emojiParts =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\u{fe0f}?)\u{200d}(?=\p{Extended_Pictographic})|(?<=\p{Extended_Pictographic})\u{fe0f}|(?<=[#*0-9])\u{fe0f}(?=\u{20e3})/u;

const escaped = new RegExp(`(${emojiParts.source})|(${invisible.source})`, 'gu');

/**
 * The beginning of markup: tags, including our own fence, control tokens of chat templates (`<|`), and images, which some
 * clients fetch as soon as they show them. The number in our tags would be enough for a parser, but a model may be less exact.
 * Look-alikes in other scripts stay, because there are too many.
 */
const markup = /<(?=[/!?]?\p{L}|[|｜])|(?<=!)\[/gu;

const codeOf = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/**
 * Untrusted text with invisible characters and the beginnings of markup written as escapes such as `\u{202e}`. With `lines`,
 * line ends stay. Other white space becomes a plain space.
 */
export function visible(text: string, options: { lines?: boolean } = {}): string {
  return unhidden(text, options).replace(markup, codeOf);
}

/** Like `visible`, but allows markup. For text of the account, which a manipulated agent may have written. */
export function unhidden(text: string, { lines = false }: { lines?: boolean } = {}): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(/[\t\p{Zs}]/gu, ' ')
    .replace(escaped, (character: string, joiner: string | undefined) => {
      if (joiner !== undefined || (lines && character === '\n')) return character;
      return codeOf(character);
    });
}
