import type { Span } from '../ast.ts';
import { error } from '../diagnostics.ts';
import { type Cursor, peek } from './cursor.ts';
import { unescape } from './escape.ts';
import type { Lexeme } from './lexeme.ts';
import type { Atom } from './surface.ts';

const atomKinds = new Map<string, Atom['kind']>(
  (['term', 'quoted', 'prefix', 'wildcard', 'regex', 'range', 'lone_sign'] as const).map((kind) => [
    kind,
    kind,
  ]),
);

export function atomKind({ kind }: Lexeme): Atom['kind'] | null {
  return atomKinds.get(kind) ?? null;
}

export function readBoost(cursor: Cursor): Span | null {
  const token = peek(cursor);
  if (token?.kind !== 'boost') return null;
  cursor.at += 1;
  return [token.start, token.end];
}

// atom = ( TERM | PREFIX | WILD | REGEX ) [ SLOP ] [ BOOST ] | QUOTED [ SLOP ] [ BOOST ] | RANGE [ BOOST ]
export function readAtom(cursor: Cursor, token: Lexeme, kind: Atom['kind']): Atom {
  cursor.at += 1;
  const span: Span = [token.start, token.end];
  const slopToken = token.kind !== 'range' && peek(cursor)?.kind === 'slop' ? peek(cursor) : undefined;
  if (slopToken !== undefined) cursor.at += 1;
  const number = slopToken === undefined ? '' : cursor.text.slice(slopToken.start + 1, slopToken.end);
  return {
    type: 'atom',
    kind,
    value: atomValue(cursor, token),
    range: token.range ?? null,
    span,
    slop:
      slopToken === undefined
        ? null
        : { value: number === '' ? null : Number(number), span: [slopToken.start, slopToken.end] },
    boost: readBoost(cursor),
  };
}

function atomValue(cursor: Cursor, { kind, start, end }: Lexeme): string {
  if (kind === 'regex') return cursor.text.slice(start + 1, end - 1);
  if (kind === 'wildcard') return wildcardPattern(cursor.text.slice(start, end));
  const raw =
    kind === 'quoted'
      ? cursor.text.slice(start + 1, end - 1)
      : cursor.text.slice(start, kind === 'prefix' ? end - 1 : end);
  const value = unescape(raw);
  if (value !== null || kind === 'range') return value ?? '';
  const message =
    '`\\u` needs four hexadecimal digits, for example `\\u00e9`. For a literal u, drop the backslash.';
  cursor.report(error('bad_escape', message, [start, end]));
  return raw;
}

/** In a pattern only `*`, `?` and `\` keep their backslash. Repeated `*` are one. */
function wildcardPattern(raw: string): string {
  return raw.replaceAll(/\\([\s\S])|\*+/g, (part, escaped: string | undefined) => {
    if (escaped === undefined) return '*';
    return '*?\\'.includes(escaped) ? part : escaped;
  });
}
