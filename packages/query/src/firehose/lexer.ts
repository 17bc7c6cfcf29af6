import type { Span } from '../ast.ts';
import { certain, type Diagnostic, error, type Fix, replace } from '../diagnostics.ts';
import { nearFix } from '../near.ts';
import { escapeSlashes, isSyntax, isWhite, quote } from './escape.ts';
import { scanRange } from './lex-range.ts';
import type { Lexeme, LexemeKind } from './lexeme.ts';

const [STAR, PLUS, MINUS, SLASH, COLON, QUESTION, BACKSLASH] = [0x2a, 0x2b, 0x2d, 0x2f, 0x3a, 0x3f, 0x5c];

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

/** Lucene's lexical grammar (firehose.md §12.2): the longest token wins. Unreadable text is reported and skipped. */
export function lex(text: string, report: (diagnostic: Diagnostic) => void): Lexeme[] {
  const lexemes: Lexeme[] = [];
  let at = 0;
  while (at < text.length) {
    if (isWhite(text.charCodeAt(at))) {
      at += 1;
      continue;
    }
    const isSlash = text.charCodeAt(at) === SLASH;
    const lexeme = isSlash ? readRegex(text, at, lexemes.at(-1), report) : readLexeme(text, at, report);
    lexemes.push(lexeme);
    at = lexeme.end;
  }
  return lexemes;
}

function readLexeme(text: string, at: number, report: (diagnostic: Diagnostic) => void): Lexeme {
  if (!isSyntax(text.charCodeAt(at))) return readWord(text, at, report);
  const character = text.charAt(at);
  switch (character) {
    case '(':
      return { kind: 'open', start: at, end: at + 1 };
    case ')':
      return { kind: 'close', start: at, end: at + 1 };
    case ':':
      return { kind: 'colon', start: at, end: at + 1 };
    case '+':
    case '-':
    case '!': {
      // A sign before a space is not an operator but a word, which text analysis removes.
      if (isWhite(text.charCodeAt(at + 1))) return { kind: 'lone_sign', start: at, end: at + 1 };
      return {
        kind: character === '+' ? 'plus' : character === '-' ? 'minus' : 'not',
        start: at,
        end: at + 1,
      };
    }
    case '"':
      return readQuoted(text, at, report);
    case '[':
    case '{':
      return scanRange(text, at, report);
    case '~':
    case '^':
      return readNumbered(text, at, report);
    case ']':
    case '}':
      report(stray(text, at, 'Nothing opens this bracket'));
      return { kind: 'broken', start: at, end: at + 1 };
    default:
      return readWord(text, at, report);
  }
}

// TERM = start { start | "-" | "+" } ; PREFIX = TERM "*" ; WILD = the same with "*" and "?" anywhere
function readWord(text: string, from: number, report: (diagnostic: Diagnostic) => void): Lexeme {
  let at = from;
  let wildcards = 0;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (!isSyntax(unit) || (at > from && (unit === MINUS || unit === PLUS))) {
      at += 1;
    } else if (unit === BACKSLASH) {
      if (at + 1 >= text.length) break;
      at += 2;
    } else if (unit === STAR || unit === QUESTION) {
      wildcards += 1;
      at += 1;
    } else break;
  }
  if (text.charCodeAt(at) === COLON && text.startsWith('://', at)) return readBareUrl(text, from, report);
  if (text.charAt(at) === '\\') {
    report(stray(text, at, 'A backslash needs a character after it'));
    return { kind: 'broken', start: from, end: at + 1 };
  }
  return { kind: wordKind(text, from, at, wildcards), start: from, end: at };
}

function wordKind(text: string, from: number, to: number, wildcards: number): LexemeKind {
  if (wildcards === 1 && to - from > 1 && text.charAt(to - 1) === '*' && !endsEscaped(text, from, to))
    return 'prefix';
  if (wildcards > 0) return 'wildcard';
  if (to - from > 3) return 'term';
  const word = text.slice(from, to);
  if (word === 'AND' || word === '&&') return 'and';
  if (word === 'OR' || word === '||') return 'or';
  return word === 'NOT' ? 'not' : 'term';
}

function endsEscaped(text: string, from: number, to: number): boolean {
  let backslashes = 0;
  while (to - 2 - backslashes >= from && text.charAt(to - 2 - backslashes) === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

/** `https://…` is meant as one value, but the colon and the slashes split it. */
function readBareUrl(text: string, from: number, report: (diagnostic: Diagnostic) => void): Lexeme {
  const end = endOfRun(text, from);
  const field = /(\w+)\s*:\s*$/.exec(text.slice(Math.max(0, from - 20), from))?.[1];
  const address = text.slice(from, end);
  const host = /:\/\/([^/?#]+)/.exec(address)?.[1]?.toLowerCase();
  const value = field === 'domain' && host !== undefined ? quote(host) : quote(address);
  const message = 'A URL must be quoted: without quotes its colon and slashes are read as query syntax.';
  const fix = replace('Quote the URL', [from, end], field === undefined ? `url:${value}` : value);
  // Without a field it may be one page or all pages below it.
  report(error('unquoted_url', message, [from, end], [field === undefined ? fix : certain(fix)]));
  return { kind: 'broken', start: from, end };
}

// QUOTED = '"' { any but quote or backslash | "\" any } '"'
function readQuoted(text: string, from: number, report: (diagnostic: Diagnostic) => void): Lexeme {
  let at = from + 1;
  while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  if (at < text.length) return { kind: 'quoted', start: from, end: at + 1 };
  // The phrase most likely ends where the next operator or parenthesis begins.
  const rest = text.slice(from + 1);
  const stop = rest.slice(0, / (?:AND|OR|NOT) |\)|$/.exec(rest)?.index).trimEnd().length;
  const fixes = stop > 0 ? [replace('Close the quote', [from + 1 + stop, from + 1 + stop], '"')] : [];
  const message = 'This quote is never closed. Add the closing `"`, or write `\\"` for a literal quote.';
  report(error('unclosed_quote', message, [from, from + 1], fixes));
  return { kind: 'broken', start: from, end: from + 1 + stop };
}

// REGEX = "/" { not slash | "\/" } "/"
function readRegex(
  text: string,
  from: number,
  previous: Lexeme | undefined,
  report: (diagnostic: Diagnostic) => void,
): Lexeme {
  let last = -1;
  for (let at = text.indexOf('/', from + 1); at >= 0; at = text.indexOf('/', at + 1)) {
    last = at;
    if (text.charAt(at - 1) !== '\\') break;
  }
  if (last > from) return { kind: 'regex', start: from, end: last + 1 };
  const end = endOfRun(text, from);
  const message =
    'An unquoted `/` starts a regular expression, and this one never ends. Quote the value, or escape the slash as `\\/`.';
  const near = previous?.end === from ? nearOf(text, previous.start, end) : null;
  const fixes = near ?? [slashFix(text, [from, end], previous)];
  report(error('unclosed_regex', message, [from, end], fixes));
  return { kind: 'broken', start: from, end };
}

/** `NEAR/5` of other search engines. */
function nearOf(text: string, start: number, end: number): Fix[] | null {
  const distance = /^(?:NEAR|WITHIN|W|N)\/(\d{1,2})$/i.exec(text.slice(start, end))?.[1];
  return distance === undefined ? null : nearFix([start, end], Number(distance), text);
}

/** The word or pattern before the slash belongs to the value: `UI/UX`, and `*` before `/press/*`. */
function slashFix(text: string, [from, end]: Span, previous: Lexeme | undefined): Fix {
  const isGlued = previous?.end === from && /^(?:term|prefix|wildcard)$/.test(previous.kind);
  const start = isGlued ? previous.start : from;
  const value = text.slice(start, end);
  return certain(
    /[*?]/.test(value)
      ? replace('Escape the slashes', [start, end], escapeSlashes(value))
      : replace('Quote the value', [start, end], quote(value)),
  );
}

// SLOP = "~" [ number ] ; BOOST = "^" number
function readNumbered(text: string, from: number, report: (diagnostic: Diagnostic) => void): Lexeme {
  const isSlop = text.charAt(from) === '~';
  let end = from + 1;
  while (isDigit(text.charAt(end))) end += 1;
  if (end > from + 1 && text.charAt(end) === '.' && isDigit(text.charAt(end + 1))) {
    end += 1;
    while (isDigit(text.charAt(end))) end += 1;
  }
  if (isSlop) return { kind: 'slop', start: from, end };
  if (end === from + 1) {
    report(stray(text, from, '`^` needs a number after it, and boosts have no effect here anyway'));
    return { kind: 'broken', start: from, end };
  }
  return { kind: 'boost', start: from, end };
}

/** Up to the next white space or parenthesis. */
function endOfRun(text: string, from: number): number {
  let end = from;
  while (end < text.length && !isWhite(text.charCodeAt(end)) && !'()"'.includes(text.charAt(end))) end += 1;
  return end;
}

function stray(text: string, at: number, what: string): Diagnostic {
  const message = `${what}. Remove it, or put the text in quotes.`;
  const fix = replace(`Remove \`${text.charAt(at)}\``, [at, at + 1], '');
  return error('stray_character', message, [at, at + 1], [fix]);
}
