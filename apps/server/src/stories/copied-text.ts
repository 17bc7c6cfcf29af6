/** Longer texts are pages, whose text is mostly that of their site. */
const lengthMax = 20_000;
/** About nine words. Shorter texts are equal by chance. */
const weightMin = 48;

const removed = /\bhttps?:\/\/\S+|(?<![\p{L}\p{N}])@[\p{L}\p{N}_][\p{L}\p{N}_.-]*|^\s*RT\s+(?=@)/gu;
/** With the variation selectors, which emoji leave behind. */
const others = /(?:[^\p{L}\p{M}\p{N}]|[\uFE00-\uFE0F])+/gu;
/** One character of these is worth a syllable or a word. */
const dense = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu;
// The same for most texts, in a fifth of the time.
const othersOfAscii = /[^a-z0-9]+/g;
const beyondAscii = /[\u0080-\uFFFF]/;

/**
 * Letters and digits of a text in lower case, without addresses and handles: equal for copies. Null if the text is too
 * short for equality to mean something.
 */
export function copiedText(text: string): string | null {
  if (text.length > lengthMax || text.length < weightMin / 3) return null;
  const words = text.includes('@') || text.includes('://') ? text.replace(removed, ' ') : text;
  const isAscii = !beyondAscii.test(words);
  const plain = isAscii
    ? words.toLowerCase().replace(othersOfAscii, '')
    : words.normalize('NFKC').toLowerCase().replace(others, '');
  if (plain.length >= weightMin) return plain;
  return plain.length + 2 * (plain.match(dense)?.length ?? 0) >= weightMin ? plain : null;
}
