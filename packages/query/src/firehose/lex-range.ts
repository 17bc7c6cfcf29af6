import type { Span } from '../ast.ts';
import { certain, type Diagnostic, error, type Fix, replace } from '../diagnostics.ts';
import { unescape } from './escape.ts';
import type { Lexeme } from './lexeme.ts';

interface Bound {
  readonly value: string | null;
  readonly span: Span;
}

/** RANGE = ( "[" | "{" ) bound "TO" bound ( "]" | "}" ); bound = "*" | QUOTED | run without space, "]" and "}" */
export function scanRange(text: string, from: number, report: (diagnostic: Diagnostic) => void): Lexeme {
  const bounds: Bound[] = [];
  let hasTo = false;
  let at = from + 1;
  while (at < text.length && bounds.length <= 3) {
    const character = text.charAt(at);
    if (character === ']' || character === '}') break;
    if (/\s/.test(character)) {
      at += 1;
      continue;
    }
    const end = endOfBound(text, at);
    if (end === null) break;
    if (text.slice(at, end) === 'TO' && bounds.length === 1 && !hasTo) hasTo = true;
    else bounds.push(readBound(text, at, end));
    at = end;
  }
  const closed = text.charAt(at) === ']' || text.charAt(at) === '}';
  const end = closed ? at + 1 : endOfBroken(text, from);
  const [low, high, more] = bounds;
  if (closed && hasTo && low !== undefined && high !== undefined && more === undefined) {
    const range = {
      low: low.value,
      high: high.value,
      includeLow: text.charAt(from) === '[',
      includeHigh: text.charAt(at) === ']',
      highSpan: high.span,
    };
    return { kind: 'range', start: from, end, range };
  }
  const message =
    'A range has the form `[low TO high]` or `{low TO high}`, with an upper-case TO and `*` for an open end.';
  const fixes = closed ? fixesFor(text, [from, end], bounds) : [];
  report(error('bad_range', message, [from, end], fixes));
  return { kind: 'broken', start: from, end };
}

function endOfBound(text: string, from: number): number | null {
  let at = from;
  if (text.charAt(at) !== '"') {
    while (at < text.length && !' ]}'.includes(text.charAt(at))) at += 1;
    return at;
  }
  do {
    at = text.indexOf('"', at + 1);
  } while (at > 0 && text.charAt(at - 1) === '\\');
  return at < 0 ? null : at + 1;
}

function readBound(text: string, start: number, end: number): Bound {
  const raw = text.slice(start, end);
  if (raw === '*') return { value: null, span: [start, end] };
  const inner = raw.startsWith('"') ? raw.slice(1, -1) : raw;
  return { value: unescape(inner) ?? inner, span: [start, end] };
}

/** An unclosed bracket covers only its own word, so that the rest of the rule is still checked. */
function endOfBroken(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && !/[\s()]/.test(text.charAt(at))) at += 1;
  return at;
}

function fixesFor(text: string, span: Span, bounds: readonly Bound[]): Fix[] {
  const words = bounds.map((bound) => text.slice(...bound.span)).filter((word) => !/^(?:to|-)$/i.test(word));
  const [low, high] = words;
  if (low === undefined || high === undefined || words.length !== 2) return [];
  const fixed = `${text.charAt(span[0])}${low} TO ${high}${text.charAt(span[1] - 1)}`;
  return [certain(replace(`Write ${fixed}`, span, fixed))];
}
