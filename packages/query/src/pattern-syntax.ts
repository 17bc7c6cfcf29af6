export interface PatternError {
  readonly message: string;
  readonly at: number;
}

/** A parsed regular expression. An empty `cat` matches the empty text, an empty `set` matches nothing. */
export type RegexSyntax =
  | { readonly op: 'set'; readonly ranges: readonly CodePointRange[] }
  | { readonly op: 'cat' | 'any' | 'all'; readonly of: readonly RegexSyntax[] }
  | { readonly op: 'not'; readonly of: RegexSyntax }
  | { readonly op: 'repeat'; readonly of: RegexSyntax; readonly min: number; readonly max: number };

type CodePointRange = readonly [low: number, high: number];

const lengthMax = 1_000;
const depthMax = 50;
const countMax = 1_000;
const lastCodePoint = 0x10ffff;

const anyCharacter: RegexSyntax = { op: 'set', ranges: [[0, lastCodePoint]] };
const emptyText: RegexSyntax = { op: 'cat', of: [] };
const nothing: RegexSyntax = { op: 'set', ranges: [] };

class SyntaxProblem extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/**
 * Lucene's expression syntax with all its options on. Where an operator has nothing to work on (`*a`,
 * `a||b`, a first `)`), it is an ordinary character, as in Lucene.
 */
export function parseRegex(source: string): RegexSyntax | PatternError {
  try {
    return readWhole({ source, at: 0, depth: 0 });
  } catch (error) {
    if (error instanceof SyntaxProblem) return { message: error.message, at: error.at };
    throw error;
  }
}

interface Reader {
  readonly source: string;
  at: number;
  depth: number;
}

function fail(message: string, at: number): never {
  throw new SyntaxProblem(message, at);
}

function peek({ source, at }: Reader, set: string): boolean {
  return at < source.length && set.includes(source.charAt(at));
}

function match(reader: Reader, character: string): boolean {
  if (!peek(reader, character)) return false;
  reader.at += 1;
  return true;
}

// whole = [ union ]
function readWhole(reader: Reader): RegexSyntax {
  const { source } = reader;
  if (source.length > lengthMax) fail(`an expression may have ${lengthMax} characters`, lengthMax);
  if (source === '') return emptyText;
  const whole = readUnion(reader);
  return reader.at < source.length ? fail('`)` has no `(`', reader.at) : whole;
}

// union = inter { "|" inter }
function readUnion(reader: Reader): RegexSyntax {
  reader.depth += 1;
  if (reader.depth > depthMax) fail('parentheses are nested too deep', reader.at);
  const branches = [readInter(reader)];
  while (match(reader, '|')) branches.push(readInter(reader));
  reader.depth -= 1;
  return several('any', branches);
}

// inter = concat { "&" concat }
function readInter(reader: Reader): RegexSyntax {
  const parts = [readConcat(reader)];
  while (match(reader, '&')) parts.push(readConcat(reader));
  return several('all', parts);
}

// concat = repeat { repeat }
function readConcat(reader: Reader): RegexSyntax {
  const parts = [readRepeat(reader)];
  while (reader.at < reader.source.length && !peek(reader, ')|&')) parts.push(readRepeat(reader));
  return several('cat', parts);
}

function several(op: 'any' | 'all' | 'cat', parts: readonly RegexSyntax[]): RegexSyntax {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { op, of: parts };
}

// repeat = complement { "?" | "*" | "+" | "{" n [ "," [ m ] ] "}" }
function readRepeat(reader: Reader): RegexSyntax {
  let of = readComplement(reader);
  for (let operators = 0; peek(reader, '?*+{'); operators += 1) {
    if (operators === depthMax) fail('too many repetitions in a row', reader.at);
    if (match(reader, '?')) of = { op: 'repeat', of, min: 0, max: 1 };
    else if (match(reader, '*')) of = { op: 'repeat', of, min: 0, max: Infinity };
    else if (match(reader, '+')) of = { op: 'repeat', of, min: 1, max: Infinity };
    else of = { op: 'repeat', of, ...readCounts(reader) };
  }
  return of;
}

function readCounts(reader: Reader): { min: number; max: number } {
  reader.at += 1;
  const min = readNumber(reader) ?? fail('a number is missing after `{`', reader.at);
  const max = match(reader, ',') ? (readNumber(reader) ?? Infinity) : min;
  if (!match(reader, '}')) fail('`{` is never closed by `}`', reader.at);
  return { min, max };
}

function readNumber(reader: Reader): number | null {
  const start = reader.at;
  while (peek(reader, '0123456789')) reader.at += 1;
  if (reader.at === start) return null;
  const value = Number(reader.source.slice(start, reader.at));
  return value <= countMax ? value : fail(`a repetition above ${countMax} is too complex`, start);
}

// complement = "~" complement | class
function readComplement(reader: Reader): RegexSyntax {
  let negations = 0;
  while (match(reader, '~')) negations += 1;
  const of = readClass(reader);
  return negations % 2 === 0 ? of : { op: 'not', of };
}

// class = "[" [ "^" ] range { range } "]" | simple
function readClass(reader: Reader): RegexSyntax {
  const start = reader.at;
  if (!match(reader, '[')) return readSimple(reader);
  const negated = match(reader, '^');
  const ranges = [readRange(reader)];
  while (reader.at < reader.source.length && !peek(reader, ']')) ranges.push(readRange(reader));
  if (!match(reader, ']')) fail('`[` is never closed by `]`', start);
  const merged = mergeRanges(ranges);
  return { op: 'set', ranges: negated ? invertRanges(merged) : merged };
}

function readRange(reader: Reader): CodePointRange {
  const start = reader.at;
  const low = readCharacter(reader);
  const high = match(reader, '-') ? readCharacter(reader) : low;
  return low <= high ? [low, high] : fail('this range runs backwards', start);
}

function readCharacter(reader: Reader): number {
  match(reader, '\\');
  const codePoint = reader.source.codePointAt(reader.at) ?? fail('the expression ends too early', reader.at);
  reader.at += codePoint > 0xffff ? 2 : 1;
  return codePoint;
}

// simple = "." | "#" | "@" | string | "(" [ union ] ")" | "<" n "-" m ">" | character
function readSimple(reader: Reader): RegexSyntax {
  const start = reader.at;
  if (match(reader, '.')) return anyCharacter;
  if (match(reader, '#')) return nothing;
  if (match(reader, '@')) return { op: 'repeat', of: anyCharacter, min: 0, max: Infinity };
  if (match(reader, '"')) return { op: 'cat', of: Array.from(readUntil(reader, '"'), literal) };
  if (match(reader, '<')) return interval(readUntil(reader, '>'), start);
  if (match(reader, '(')) {
    if (match(reader, ')')) return emptyText;
    const of = readUnion(reader);
    if (!match(reader, ')')) fail('`(` is never closed by `)`', start);
    return of;
  }
  const only = readCharacter(reader);
  return { op: 'set', ranges: [[only, only]] };
}

function readUntil(reader: Reader, close: string): string {
  const start = reader.at;
  const end = reader.source.indexOf(close, start);
  if (end < 0) fail(`\`${reader.source.charAt(start - 1)}\` is never closed by \`${close}\``, start - 1);
  reader.at = end + 1;
  return reader.source.slice(start, end);
}

function literal(character: string): RegexSyntax {
  const codePoint = character.codePointAt(0) ?? 0;
  return { op: 'set', ranges: [[codePoint, codePoint]] };
}

function mergeRanges(ranges: readonly CodePointRange[]): CodePointRange[] {
  const merged: CodePointRange[] = [];
  for (const [low, high] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last !== undefined && low <= last[1] + 1)
      merged[merged.length - 1] = [last[0], Math.max(last[1], high)];
    else merged.push([low, high]);
  }
  return merged;
}

function invertRanges(merged: readonly CodePointRange[]): CodePointRange[] {
  const inverted: CodePointRange[] = [];
  let from = 0;
  for (const [low, high] of merged) {
    if (low > from) inverted.push([from, low - 1]);
    from = high + 1;
  }
  if (from <= lastCodePoint) inverted.push([from, lastCodePoint]);
  return inverted;
}

/** `<7-42>`: the decimal numbers of that interval. Bounds of equal length fix the number of digits. */
function interval(text: string, at: number): RegexSyntax {
  const found = /^([0-9]{1,9})-([0-9]{1,9})$/.exec(text);
  if (found === null) return fail('`<` starts a number interval such as `<1-31>`; escape it as `\\<`', at);
  const [from = '', to = ''] = found.slice(1);
  const [low, high] = Number(from) <= Number(to) ? [from, to] : [to, from];
  if (from.length === to.length) return digitsBetween(low, high);
  const branches: RegexSyntax[] = [];
  const lowest = String(Number(low));
  const highest = String(Number(high));
  for (let length = lowest.length; length <= highest.length; length += 1) {
    const first = length === lowest.length ? lowest : `1${'0'.repeat(length - 1)}`;
    branches.push(digitsBetween(first, length === highest.length ? highest : '9'.repeat(length)));
  }
  const zeros: RegexSyntax = { op: 'repeat', of: literal('0'), min: 0, max: Infinity };
  return { op: 'cat', of: [zeros, { op: 'any', of: branches }] };
}

/** Bounds with the same number of digits: splits by the first digit into below, between and above. */
function digitsBetween(low: string, high: string): RegexSyntax {
  if (low === '') return emptyText;
  const [first, last] = [low.charCodeAt(0), high.charCodeAt(0)];
  const [lowRest, highRest] = [low.slice(1), high.slice(1)];
  const step = (from: number, to: number, rest: RegexSyntax): RegexSyntax => ({
    op: 'cat',
    of: [{ op: 'set', ranges: from <= to ? [[from, to]] : [] }, rest],
  });
  if (first === last) return step(first, first, digitsBetween(lowRest, highRest));
  const zeros = '0'.repeat(lowRest.length);
  const nines = '9'.repeat(lowRest.length);
  return {
    op: 'any',
    of: [
      step(first, first, digitsBetween(lowRest, nines)),
      step(first + 1, last - 1, digitsBetween(zeros, nines)),
      step(last, last, digitsBetween(zeros, highRest)),
    ],
  };
}
