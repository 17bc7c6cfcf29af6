/**
 * Rules are looked up by runs of ASCII letters and digits. The two rule languages tokenize differently, but neither
 * ends a word inside such a run: a rule that asks for a plain ASCII word cannot match an item without that run. A run
 * next to other characters is no key, because scripts without spaces are searched inside longer runs.
 */
const wordPattern = /[a-z0-9]+/g;
const wholeWordPattern = /(?<![a-z0-9\u0080-\uffff])[a-z0-9]+(?![a-z0-9\u0080-\uffff])/g;
/** X reads these as punctuation, not as words (x.md §11). */
const escapePattern = /&(?:amp|lt|gt);/g;

/** All words in all texts of an item, in any field. */
export function wordsOf(item: unknown, words = new Set<string>()): Set<string> {
  if (typeof item === 'string') for (const word of foldCase(item).match(wordPattern) ?? []) words.add(word);
  else if (typeof item === 'object' && item !== null) {
    for (const part of Object.values(item)) wordsOf(part, words);
  }
  return words;
}

/** The longest word of a rule's text that every matching item must contain; undefined when there is none. */
export function longestWordOf(text: string): string | undefined {
  const words = foldCase(text).replaceAll(escapePattern, ' ').match(wholeWordPattern) ?? [];
  return words.toSorted((one, other) => other.length - one.length)[0];
}

/** Folds every character that either language treats as an ASCII letter to that letter. */
export function foldCase(text: string): string {
  return text.normalize('NFC').replaceAll('İ', 'i').toLowerCase().replaceAll('ſ', 's');
}
