import { certain, type Diagnostic, error, replacement, warning } from '../diagnostics.ts';
import { isNameCode, isSpace } from './characters.ts';
import { type Dialect, isOperatorName } from './dialect.ts';
import { isCurly, type Quotes, readQuoted, type Value } from './quotes.ts';

type LexemeKind =
  | 'open'
  | 'close'
  | 'minus'
  | 'or'
  | 'word'
  | 'phrase'
  | 'hashtag'
  | 'cashtag'
  | 'mention'
  | 'operator';

export interface Lexeme {
  readonly kind: LexemeKind;
  readonly start: number;
  readonly end: number;
  /** Whether white space precedes it. */
  readonly spaced: boolean;
  /** The value without quotes, sigil or operator name; brackets are part of it. */
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly quoted: boolean;
  /** Lower case, for `operator` only. */
  readonly name: string;
  /** The number after `~`; -1 when there is none. */
  readonly slop: number;
}

export interface Lexed {
  readonly lexemes: readonly Lexeme[];
  readonly diagnostics: Diagnostic[];
}

interface Lexer extends Quotes {
  readonly lexemes: Lexeme[];
  at: number;
}

const openParenthesis = 0x28;
const closeParenthesis = 0x29;
const quote = 0x22;
const colon = 0x3a;

/** Splits a rule into clauses in linear time, whatever the input. */
export function lex(text: string, dialect: Dialect): Lexed {
  const lexer: Lexer = { text, dialect, lexemes: [], diagnostics: [], at: 0, apostropheUnclosed: false };
  for (;;) {
    const from = lexer.at;
    skipSpace(lexer);
    if (lexer.at >= text.length) return lexer;
    lexClause(lexer, lexer.at > from || from === 0);
  }
}

function skipSpace(lexer: Lexer): void {
  while (lexer.at < lexer.text.length && isSpace(lexer.text.charCodeAt(lexer.at))) lexer.at += 1;
}

function lexClause(lexer: Lexer, spaced: boolean): void {
  const start = lexer.at;
  const code = lexer.text.charCodeAt(start);
  if (code === openParenthesis) return pushMark(lexer, 'open', spaced);
  if (code === closeParenthesis) return pushMark(lexer, 'close', spaced);
  if (code === 0x2d || isWrongDash(lexer, code)) return pushMark(lexer, 'minus', spaced);
  const phrase = readQuoted(lexer, start);
  if (phrase !== null) return lexPhrase(lexer, phrase, spaced);
  const tag = sigilKind(code);
  const end = chunkEnd(lexer.text, start);
  lexer.at = end;
  if (tag !== null && end > start + 1) {
    return push(lexer, plainLexeme(tag, start, end, spaced));
  }
  const nameEnd = operatorNameEnd(lexer.text, start, end);
  if (nameEnd > 0) return lexOperator(lexer, start, nameEnd, spaced);
  const kind = end - start === 2 && lexer.text.startsWith('OR', start) ? 'or' : 'word';
  push(lexer, plainLexeme(kind, start, end, spaced));
}

/** A clause without quotes and operator name; a sigil is not part of the value. */
function plainLexeme(kind: LexemeKind, start: number, end: number, spaced: boolean): Lexeme {
  const valueStart = kind === 'hashtag' || kind === 'cashtag' || kind === 'mention' ? start + 1 : start;
  return { kind, start, end, spaced, valueStart, valueEnd: end, quoted: false, name: '', slop: -1 };
}

function sigilKind(code: number): LexemeKind | null {
  if (code === 0x23) return 'hashtag';
  if (code === 0x24) return 'cashtag';
  return code === 0x40 ? 'mention' : null;
}

function pushMark(lexer: Lexer, kind: LexemeKind, spaced: boolean): void {
  const start = lexer.at;
  lexer.at = start + 1;
  push(lexer, plainLexeme(kind, start, start + 1, spaced));
}

function push(lexer: Lexer, lexeme: Lexeme): void {
  const before = lexer.lexemes.at(-1);
  if (
    !lexeme.spaced &&
    lexeme.kind !== 'close' &&
    before !== undefined &&
    before.kind !== 'open' &&
    before.kind !== 'minus'
  ) {
    const message = `${lexer.dialect.name} separates clauses by spaces. Put a space here.`;
    const fix = certain(replacement('Insert a space', [lexeme.start, lexeme.start], ' '));
    lexer.diagnostics.push(warning('missing_space', message, [lexeme.start, lexeme.end], [fix]));
  }
  lexer.lexemes.push(lexeme);
}

/** Word processors insert typographic dashes; before a clause one is read as the minus of a negation. */
function isWrongDash(lexer: Lexer, code: number): boolean {
  if (code !== 0x2013 && code !== 0x2014 && code !== 0x2212) return false;
  const next = lexer.text.charCodeAt(lexer.at + 1);
  if (Number.isNaN(next) || isSpace(next)) return false;
  const message = `This is a typographic dash. ${lexer.dialect.name} negates with a plain hyphen: -word.`;
  const fix = certain(replacement('Use a hyphen', [lexer.at, lexer.at + 1], '-'));
  lexer.diagnostics.push(error('wrong_dash', message, [lexer.at, lexer.at + 1], [fix]));
  return true;
}

/** A bare clause ends at white space, parentheses and double quotes of any kind. */
function chunkEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && !endsChunk(text.charCodeAt(at))) at += 1;
  return at;
}

function endsChunk(code: number): boolean {
  if (code <= 0x20) return isSpace(code);
  if (code < 0x80) return code === openParenthesis || code === closeParenthesis || code === quote;
  return isSpace(code) || isCurly(code);
}

/** The index of the colon, or 0. `https://…` and `10:30` are not operators. */
function operatorNameEnd(text: string, start: number, end: number): number {
  const first = text.charCodeAt(start);
  if (first >= 0x30 && first <= 0x39) return 0;
  let at = start;
  while (at < end && isNameCode(text.charCodeAt(at))) at += 1;
  if (at === start || text.charCodeAt(at) !== colon || text.startsWith('//', at + 1)) return 0;
  return at;
}

/** clause = opname , ":" , value */
function lexOperator(lexer: Lexer, start: number, nameEnd: number, spaced: boolean): void {
  const name = lexer.text.slice(start, nameEnd).toLowerCase();
  lexer.at = nameEnd + 1;
  const gap = lexer.at;
  let value = lexValue(lexer);
  const group = value === null ? valueGroup(lexer, start, gap) : null;
  if (group !== null) value = group;
  if (value === null) {
    skipSpace(lexer);
    const found = lexer.at > gap ? lexValue(lexer) : null;
    if (found === null) lexer.at = gap;
    reportMissingValue(lexer, start, gap, found);
    value = found ?? { open: gap, start: gap, end: gap, after: gap, quoted: false };
  }
  lexer.at = value.after;
  push(lexer, {
    kind: 'operator',
    start,
    end: value.after,
    spaced,
    valueStart: value.start,
    valueEnd: value.end,
    quoted: value.quoted,
    name,
    slop: -1,
  });
}

const groupedValue = String.raw`(?:"[^"]*"|[^\s()":]+)`;
const groupOfValues = new RegExp(
  String.raw`\(\s*(${groupedValue})(?:\s+OR\s+${groupedValue}|\s*[,|]\s*${groupedValue})*\s*\)`,
  'y',
);

/** `from:(a OR b)`, as Firehose writes it: read as one clause with the first value. */
function valueGroup(lexer: Lexer, start: number, gap: number): Value | null {
  groupOfValues.lastIndex = gap;
  const found = groupOfValues.exec(lexer.text);
  if (found === null) return null;
  const [whole, first = ''] = found;
  const name = lexer.text.slice(start, gap);
  const values = whole
    .slice(1, -1)
    .trim()
    .split(/\s+OR\s+|\s*[,|]\s*/);
  const clauses = values.map((value) => name + value).join(' OR ');
  const span = [start, gap + whole.length] as const;
  const fix = certain(replacement('Write it for each', span, values.length > 1 ? `(${clauses})` : clauses));
  lexer.diagnostics.push(error('one_value', 'An operator takes one value. Write it for each.', span, [fix]));
  const from = gap + whole.indexOf(first);
  const isQuoted = first.startsWith('"');
  return {
    open: from,
    start: from + (isQuoted ? 1 : 0),
    end: from + first.length - (isQuoted ? 1 : 0),
    after: span[1],
    quoted: isQuoted,
  };
}

function lexValue(lexer: Lexer): Value | null {
  const start = lexer.at;
  if (start >= lexer.text.length) return null;
  const code = lexer.text.charCodeAt(start);
  if (isSpace(code) || code === openParenthesis || code === closeParenthesis) return null;
  const quoted = readQuoted(lexer, start);
  if (quoted !== null) return quoted;
  const bracketEnd = code === 0x5b ? closingBracket(lexer.text, start) : -1;
  const end = bracketEnd > 0 ? bracketEnd : chunkEnd(lexer.text, start);
  if (end - start === 2 && lexer.text.startsWith('OR', start) && isSpace(lexer.text.charCodeAt(start - 1)))
    return null;
  return { open: start, start, end, after: end, quoted: false };
}

/** bracket = "[" , numbers , "]"; it may contain spaces and ends at the closing bracket. */
function closingBracket(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5d) return at + 1;
    if (code === openParenthesis || code === closeParenthesis || code === quote || code === 0x5b) return -1;
  }
  return -1;
}

function reportMissingValue(lexer: Lexer, start: number, gap: number, found: Value | null): void {
  const name = gap - start > 40 ? 'This operator' : lexer.text.slice(start, gap);
  if (found === null) {
    const message = `${name} needs a value right after the colon. Write it, or quote the text if you mean the words.`;
    lexer.diagnostics.push(
      error('missing_value', message, [start, gap], [replacement(`Remove ${name}`, [start, gap], '')]),
    );
    return;
  }
  const message = `No space may stand between ${name} and its value.`;
  const cut = replacement('Remove the space', [gap, found.open], '');
  // In prose a word may end with a colon; the name of an operator does not.
  const fix = isOperatorName(lexer.text.slice(start, gap - 1), lexer.dialect) ? certain(cut) : cut;
  lexer.diagnostics.push(error('space_after_colon', message, [start, gap], [fix]));
}

/** clause = phrase , [ "~" , digit ] */
function lexPhrase(lexer: Lexer, value: Value, spaced: boolean): void {
  const { text } = lexer;
  const start = value.open;
  let slop = -1;
  let end = value.after;
  if (text[end] === '~') {
    let digits = end + 1;
    while (digits < text.length && text.charCodeAt(digits) >= 0x30 && text.charCodeAt(digits) <= 0x39)
      digits += 1;
    slop = digits === end + 1 ? 0 : Math.min(Number(text.slice(end + 1, digits)), 1000);
    end = digits;
  }
  lexer.at = end;
  push(lexer, {
    kind: 'phrase',
    start,
    end,
    spaced,
    valueStart: value.start,
    valueEnd: value.end,
    quoted: true,
    name: '',
    slop,
  });
}
