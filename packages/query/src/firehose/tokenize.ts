import { spend } from '../budget.ts';

/**
 * A word as found by Lucene's standard tokenizer (Unicode word breaks, firehose.md §12.5): hyphen, slash, `@` and `&`
 * split; an apostrophe or dot between letters, and a dot or comma between digits, join; every Han or Hiragana
 * character is a token. No stemming, no accent folding.
 */
export interface TextToken {
  /** Lower case, code point by code point. */
  readonly term: string;
  /** UTF-16 offsets into the text. */
  readonly start: number;
  readonly end: number;
}

/**
 * `split` breaks at every punctuation mark. The documentation does not say which of the two the platform
 * uses, so a hit that only one of them finds is approximate.
 */
export type TokenizerVariant = 'standard' | 'split';

/** firehose.md §12.5; removed from the four diff fields, not from the title. */
export const stopWordList =
  'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with';

const stopWords: ReadonlySet<string> = new Set(stopWordList.split(' '));

export function isStopWord(term: string): boolean {
  return stopWords.has(term);
}

const otherClass = 0;
const letterClass = 1;
const digitClass = 2;
const connectorClass = 3;
const katakanaClass = 4;
/** Every such character is a token. */
const singleClass = 5;
/** Scripts without spaces between words (Thai, Khmer, …): a run is one token. */
const runClass = 6;
/** Marks and invisible format characters belong to the character before them. */
const extendClass = 7;
const midLetterClass = 8;
const midNumberClass = 9;
const midBothClass = 10;
const hebrewClass = 11;
/** A mark of such a script: belongs to the character before it, else it starts a run. */
const runMarkClass = 12;
/** Inside a word only: letters and digits may follow it, another mark may not. */
const hebrewApostropheClass = 13;
const unseenClass = 255;

const space = 0x20;
const underscore = 0x5f;

const midLetters = ':\u00B7\u0387\u05F4\u2027\uFE13\uFE55\uFF1A';
const midNumbers = ',;\u037E\u0589\u060C\u060D\u066C\u07F8\u2044\uFE10\uFE14\uFE50\uFE54\uFF0C\uFF1B';
const midBoth = ".'\u2018\u2019\u2024\uFE52\uFF07\uFF0E";

const runScripts =
  /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tai_Le}\p{Script=New_Tai_Lue}\p{Script=Tai_Tham}\p{Script=Tai_Viet}]/u;

const known = new Uint8Array(0x11_0000).fill(unseenClass);

function classOf(codePoint: number): number {
  const found = known[codePoint];
  if (found !== undefined && found !== unseenClass) return found;
  const kind = classify(String.fromCodePoint(codePoint));
  known[codePoint] = kind;
  return kind;
}

function classify(character: string): number {
  if (midLetters.includes(character)) return midLetterClass;
  if (midNumbers.includes(character)) return midNumberClass;
  if (midBoth.includes(character)) return midBothClass;
  if (/[\p{Nd}\u066B]/u.test(character)) return digitClass;
  if (/\p{Pc}/u.test(character)) return connectorClass;
  if (/[\u3031-\u3035\u309B\u309C\u30A0\u30FC\uFF70]/u.test(character)) return katakanaClass;
  if (/\p{M}/u.test(character) || '\u200C\u200D\uFF9E\uFF9F'.includes(character))
    return runScripts.test(character) ? runMarkClass : extendClass;
  if (/\p{Cf}/u.test(character)) return character === '\u200B' ? otherClass : extendClass;
  if (/\p{Script=Katakana}/u.test(character)) return katakanaClass;
  if (/\p{Script=Hiragana}/u.test(character)) return singleClass;
  // The iteration mark is Han but not ideographic; the closing mark is ideographic but not Han.
  if (/\p{Ideographic}/u.test(character)) return /\p{Script=Han}/u.test(character) ? singleClass : otherClass;
  if (!/\p{Alphabetic}/u.test(character)) return character === '\u05F3' ? letterClass : otherClass;
  if (runScripts.test(character)) return runClass;
  return /\p{Script=Hebrew}/u.test(character) ? hebrewClass : letterClass;
}

/** Only the terms. Most values in rules are plain words, which a split at spaces finds faster. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let start = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const unit = at < text.length ? text.charCodeAt(at) : space;
    if (unit === space) {
      if (at > start) words.push(text.slice(start, at).toLowerCase());
      start = at + 1;
    } else if (unit > 127 || !isWordKind(classOf(unit)) || unit === underscore) {
      return tokenize(text).map((token) => token.term);
    }
  }
  return words;
}

const stepsPerCharacter = 3;
const stepsPerToken = 10;

export function tokenize(text: string, variant: TokenizerVariant = 'standard'): TextToken[] {
  const tokens: TextToken[] = [];
  const joins = variant === 'standard';
  spend(stepsPerCharacter * text.length);
  let at = 0;
  while (at < text.length) {
    const kind = classAt(text, at);
    const word = isWordKind(kind) && (joins || kind !== connectorClass);
    const run = kind === runClass || kind === runMarkClass;
    let end = at + widthAt(text, at);
    if (word) end = endOfWord(text, at, joins);
    else if (run) end = endOfRun(text, afterCharacter(text, at));
    else if (kind === singleClass) end = afterCharacter(text, at);
    if ((word && hasContent(text, at, end)) || kind === singleClass || run) {
      spend(stepsPerToken);
      tokens.push({ term: lowerCase(text.slice(at, end)), start: at, end });
    }
    at = end;
  }
  return tokens;
}

function classAt(text: string, at: number): number {
  return at < text.length ? classOf(text.codePointAt(at) ?? 0) : otherClass;
}

/** The index after the character at `at` and its marks. */
function afterCharacter(text: string, at: number): number {
  let end = at + widthAt(text, at);
  while (end < text.length && isMark(classAt(text, end))) end += widthAt(text, end);
  return end;
}

function isMark(kind: number): boolean {
  return kind === extendClass || kind === runMarkClass;
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

function isWordKind(kind: number): boolean {
  return (
    kind === letterClass ||
    kind === hebrewClass ||
    kind === digitClass ||
    kind === katakanaClass ||
    kind === connectorClass
  );
}

function isLetter(kind: number): boolean {
  return kind === letterClass || kind === hebrewClass;
}

/** A word of connectors only (`___`) is no token. */
function hasContent(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += widthAt(text, at)) {
    const kind = classAt(text, at);
    if (kind !== connectorClass && isWordKind(kind)) return true;
  }
  return false;
}

function endOfRun(text: string, from: number): number {
  let end = from;
  while (classAt(text, end) === runClass) end = afterCharacter(text, end);
  return end;
}

function endOfWord(text: string, from: number, joins: boolean): number {
  let kind = classAt(text, from);
  let end = afterCharacter(text, from);
  while (end < text.length) {
    const next = classAt(text, end);
    if (follows(kind, next) && (joins || next !== connectorClass)) {
      kind = next;
      end = afterCharacter(text, end);
      continue;
    }
    const beyond = joins ? afterJoiner(text, end, kind) : null;
    if (beyond === null) break;
    kind = isWordKind(classAt(text, beyond)) ? classAt(text, beyond) : hebrewApostropheClass;
    end = afterCharacter(text, beyond);
  }
  return end;
}

function follows(kind: number, next: number): boolean {
  if (!isWordKind(next)) return false;
  if (kind === connectorClass || next === connectorClass) return true;
  return (kind === katakanaClass) === (next === katakanaClass);
}

/**
 * The index at which the word continues when the mark at `at` joins it to what follows; null when the mark ends it.
 * A Hebrew letter keeps an apostrophe after it, and a double quote between two Hebrew letters.
 */
function afterJoiner(text: string, at: number, kind: number): number | null {
  const mark = classAt(text, at);
  const next = afterCharacter(text, at);
  const nextKind = classAt(text, next);
  if ((mark === midLetterClass || mark === midBothClass) && isLetter(kind) && isLetter(nextKind)) return next;
  if ((mark === midNumberClass || mark === midBothClass) && kind === digitClass && nextKind === digitClass)
    return next;
  if (kind !== hebrewClass) return null;
  if (text.charAt(at) === "'") return at;
  return text.charAt(at) === '"' && nextKind === hebrewClass ? next : null;
}

const stepsPerLowered = 4;

/** Java lowercases each code point alone: no final sigma, and a dotted capital I becomes a plain i. */
export function lowerCase(word: string): string {
  let ascii = true;
  for (let at = 0; at < word.length && ascii; at += 1) ascii = word.charCodeAt(at) < 0x80;
  if (ascii) return word.toLowerCase();
  spend(stepsPerLowered * word.length);
  let lowered = '';
  for (const character of word) lowered += character === 'İ' ? 'i' : character.toLowerCase();
  return lowered;
}
