import type { Span } from '../ast.ts';
import { type Diagnostic, error, type Fix, replace } from '../diagnostics.ts';
import { isSpace } from './characters.ts';
import type { Dialect } from './dialect.ts';

/** A value in the rule text: without its quotes from `start` to `end`, with them from `open` to `after`. */
export interface Value {
  readonly open: number;
  readonly start: number;
  readonly end: number;
  readonly after: number;
  readonly quoted: boolean;
}

export interface Quotes {
  readonly text: string;
  readonly dialect: Dialect;
  readonly diagnostics: Diagnostic[];
  /** Set once no closing apostrophe was found up to the end, so that the search is not repeated. */
  apostropheUnclosed: boolean;
}

const quote = 0x22;
const backslash = 0x5c;
const apostrophe = 0x27;
const curlySingle = 0x2018;
const closeParenthesis = 0x29;

export function isCurly(code: number): boolean {
  return (
    code === 0x201c || code === 0x201d || code === 0x201e || code === 0x201f || code === 0xab || code === 0xbb
  );
}

/**
 * phrase = '"' , { char - '"' | '\"' } , '"'. Curly, single and backslashed quotes are read as straight
 * ones, with an error that offers them as a fix.
 */
export function readQuoted(quotes: Quotes, start: number): Value | null {
  const { text } = quotes;
  const code = text.charCodeAt(start);
  if (code === quote) return straightPhrase(quotes, start);
  if (isCurly(code))
    return foreignPhrase(quotes, {
      open: start,
      width: 1,
      close: closingCurly(text, start + 1),
      code: 'curly_quotes',
    });
  if (code === backslash && text.charCodeAt(start + 1) === quote) {
    return foreignPhrase(quotes, {
      open: start,
      width: 2,
      close: text.indexOf('\\"', start + 2),
      code: 'escaped_quotes',
    });
  }
  if (code === curlySingle) {
    const close = text.indexOf('’', start + 1);
    if (close > start + 1)
      return foreignPhrase(quotes, { open: start, width: 1, close, code: 'curly_quotes' });
  }
  if (code === apostrophe) {
    const close = closingApostrophe(quotes, start + 1);
    return close < 0 ? null : foreignPhrase(quotes, { open: start, width: 1, close, code: 'single_quotes' });
  }
  return null;
}

function straightPhrase(quotes: Quotes, start: number): Value {
  const { text } = quotes;
  let close = text.indexOf('"', start + 1);
  while (close > 0 && text.charCodeAt(close - 1) === backslash) close = text.indexOf('"', close + 1);
  if (close > 0) {
    return { open: start, start: start + 1, end: close, after: close + 1, quoted: true };
  }
  const end = trimmedEnd(text);
  const message = 'This quote is never closed. Add the closing quote.';
  quotes.diagnostics.push(
    error('unclosed_quote', message, [start, start + 1], [unclosedFix(text, start, end)]),
  );
  return { open: start, start: start + 1, end: Math.max(start + 1, end), after: text.length, quoted: true };
}

function unclosedFix(text: string, start: number, end: number): Fix {
  if (end <= start + 1 || text.charCodeAt(end - 1) === backslash)
    return replace('Remove the quote', [start, start + 1], '');
  return replace('Close the quote at the end', [end, end], '"');
}

interface ForeignQuotes {
  readonly open: number;
  readonly width: number;
  readonly close: number;
  readonly code: 'curly_quotes' | 'escaped_quotes' | 'single_quotes';
}

const foreignMessages = {
  curly_quotes: (name: string) => `${name} knows straight double quotes only. Replace the curly quotes.`,
  escaped_quotes: () =>
    'These quotes carry a backslash, as in JSON source. In the rule itself a phrase has plain quotes.',
  single_quotes: (name: string) => `${name} knows double quotes only. Replace the single quotes.`,
} as const;

function foreignPhrase(quotes: Quotes, { open, width, close, code }: ForeignQuotes): Value {
  const { text } = quotes;
  const end = close < 0 ? Math.max(open + width, trimmedEnd(text)) : close;
  const after = close < 0 ? text.length : close + (code === 'escaped_quotes' ? 2 : 1);
  const closing: Span = close < 0 ? [end, end] : [close, after];
  const inner = text.slice(open + width, end);
  const fixes: Fix[] =
    inner.includes('"') || inner.trim() === '' || inner.endsWith('\\')
      ? []
      : [
          {
            title: 'Use straight double quotes',
            certainty: 'certain',
            edits: [
              { span: [open, open + width], text: '"' },
              { span: closing, text: '"' },
            ],
          },
        ];
  quotes.diagnostics.push(error(code, foreignMessages[code](quotes.dialect.name), [open, after], fixes));
  return { open, start: open + width, end, after, quoted: true };
}

function closingCurly(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isCurly(code) || code === quote) return at;
  }
  return -1;
}

/** An apostrophe inside a word (`don't`) does not close. */
function closingApostrophe(quotes: Quotes, from: number): number {
  if (quotes.apostropheUnclosed) return -1;
  const { text } = quotes;
  for (let at = text.indexOf("'", from); at >= 0; at = text.indexOf("'", at + 1)) {
    const next = text.charCodeAt(at + 1);
    if (at > from && (Number.isNaN(next) || isSpace(next) || next === closeParenthesis)) return at;
  }
  quotes.apostropheUnclosed = true;
  return -1;
}

function trimmedEnd(text: string): number {
  let end = text.length;
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return end;
}
