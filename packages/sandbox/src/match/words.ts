/**
 * The words by which rules are looked up: whole runs of ASCII letters and digits. Both rule languages split text
 * into words in their own ways, but none of them ends a word inside such a run. So a rule that asks for a plain
 * ASCII word cannot match an item without that run, and the tokenizers need not be repeated here. Words in which
 * other characters stand beside the run give no key: in scripts without spaces they are found inside longer runs.
 */
const wordPattern = /[a-z0-9]+/g;
const wholeWordPattern = /(?<![a-z0-9\u0080-\uffff])[a-z0-9]+(?![a-z0-9\u0080-\uffff])/g;
/** X reads these as signs, not as words (x.md §11). */
const escapePattern = /&(?:amp|lt|gt);/g;

/** All words in all texts of an item, whatever field they stand in. */
export function wordsOf(item: unknown, words = new Set<string>()): Set<string> {
  if (typeof item === 'string') for (const word of fold(item).match(wordPattern) ?? []) words.add(word);
  else if (typeof item === 'object' && item !== null) {
    for (const part of Object.values(item)) wordsOf(part, words);
  }
  return words;
}

/** The longest word of a rule's text that every text with the same words has; undefined when none is sure. */
export function longestWordOf(text: string): string | undefined {
  const words = fold(text).replaceAll(escapePattern, ' ').match(wholeWordPattern) ?? [];
  return words.toSorted((one, other) => other.length - one.length)[0];
}

/** Everything that one of the languages compares as an ASCII letter becomes that letter. */
function fold(text: string): string {
  return text.normalize('NFC').replaceAll('İ', 'i').toLowerCase().replaceAll('ſ', 's');
}
