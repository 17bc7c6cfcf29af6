import type { Span } from '../ast.ts';
import { type Diagnostic, error, type Fix, replace } from '../diagnostics.ts';
import { atomKind, readAtom, readBoost } from './atom.ts';
import { type Cursor, peek } from './cursor.ts';
import { isWhite, quote, unescape } from './escape.ts';
import type { Lexeme } from './lexeme.ts';
import { lex } from './lexer.ts';
import type { Atom, Clause, Conjunction, FieldName, Group, Modifier } from './surface.ts';
import { limits } from './tables.ts';

interface Surface {
  readonly top: Group;
  readonly lexemes: readonly Lexeme[];
  readonly diagnostics: Diagnostic[];
}

/**
 * Recursive descent over Lucene's classic grammar (firehose.md §12.3). Never throws: it consumes every token
 * and continues after `)`, operators and broken tokens, so that all errors of a rule are found at once.
 */
export function parseSurface(text: string): Surface {
  const diagnostics: Diagnostic[] = [];
  const report = (diagnostic: Diagnostic): void => {
    diagnostics.push(diagnostic);
  };
  const lexemes = lex(text, report);
  const top = query({ text, lexemes, report, at: 0 }, [0, text.length]);
  return { top, lexemes, diagnostics };
}

// top = query, with every unopened ")" reported and skipped
function query(cursor: Cursor, span: Span): Group {
  const top: Group = { type: 'group', clauses: [], span, depth: 0, boost: null };
  clauses(cursor, top);
  for (let extra = peek(cursor); extra !== undefined; extra = peek(cursor)) {
    const place: Span = [extra.start, extra.end];
    cursor.report(
      error('unexpected_paren', 'Nothing opens this parenthesis.', place, [replace('Remove `)`', place, '')]),
    );
    cursor.at += 1;
    clauses(cursor, top);
  }
  return top;
}

// query = clause { [ AND | OR ] clause }
function clauses(cursor: Cursor, group: Group): void {
  while (cursor.at < cursor.lexemes.length && peek(cursor)?.kind !== 'close') {
    const before = cursor.at;
    const conjunction = readConjunction(cursor, group);
    const clause = readClause(cursor, group, conjunction);
    if (clause !== null) group.clauses.push(clause);
    else if (cursor.at === before) cursor.at += 1;
  }
}

function readConjunction(cursor: Cursor, group: Group): Conjunction | null {
  let found: Conjunction | null = null;
  for (let token = peek(cursor); token?.kind === 'and' || token?.kind === 'or'; token = peek(cursor)) {
    const span: Span = [token.start, token.end];
    cursor.at += 1;
    const next = peek(cursor)?.kind;
    const dangling = group.clauses.length === 0 || found !== null || next === undefined || next === 'close';
    if (dangling && !brokenBefore(cursor, cursor.at - 1)) danglingOperator(cursor, span);
    else found = { kind: token.kind, span };
  }
  return found;
}

function brokenBefore(cursor: Cursor, index: number): boolean {
  return cursor.lexemes[index - 1]?.kind === 'broken';
}

function danglingOperator(cursor: Cursor, [start, end]: Span): void {
  const word = cursor.text.slice(start, end);
  const message = `\`${word}\` needs a clause on both sides. Add one, or remove \`${word}\`.`;
  const fix = replace(`Remove \`${word}\``, withSpaceAfter(cursor.text, [start, end]), '');
  cursor.report(error('dangling_operator', message, [start, end], [fix]));
}

// clause = [ "+" | "-" | NOT ] [ field ":" ] ( atom | "(" query ")" [ BOOST ] )
function readClause(cursor: Cursor, group: Group, conjunction: Conjunction | null): Clause | null {
  const start = peek(cursor)?.start ?? cursor.text.length;
  const modifier = readModifier(cursor);
  const field = readField(cursor);
  const body = readBody(cursor, group, start);
  if (body === null) return null;
  const end =
    body.type === 'group' ? (body.boost ?? body.span)[1] : (body.boost ?? body.slop?.span ?? body.span)[1];
  return {
    conjunction,
    modifier,
    field,
    body,
    span: [start, end],
    occur: 'optional',
    node: null,
    dead: false,
  };
}

function readModifier(cursor: Cursor): Modifier | null {
  let found: Modifier | null = null;
  for (let token = peek(cursor); token !== undefined && isModifier(token); token = peek(cursor)) {
    const span: Span = [token.start, token.end];
    cursor.at += 1;
    if (found === null) found = { kind: token.kind === 'plus' ? 'require' : 'prohibit', span };
    else
      cursor.report(
        error('double_modifier', 'A clause takes one `NOT`, `-` or `+`. Remove the second one.', span, [
          replace('Remove it', withSpaceAfter(cursor.text, span), ''),
        ]),
      );
  }
  return found;
}

function readField(cursor: Cursor): FieldName | null {
  const name = cursor.lexemes[cursor.at];
  const colon = cursor.lexemes[cursor.at + 1];
  if (name === undefined || colon?.kind !== 'colon') return null;
  const isStar =
    name.kind === 'wildcard' && name.end - name.start === 1 && cursor.text.charAt(name.start) === '*';
  if (name.kind !== 'term' && !isStar) return null;
  cursor.at += 2;
  const raw = cursor.text.slice(name.start, name.end);
  return { name: unescape(raw) ?? raw, span: [name.start, name.end] };
}

function readBody(cursor: Cursor, group: Group, start: number): Atom | Group | null {
  const token = peek(cursor);
  if (token?.kind === 'open') return readGroup(cursor, group.depth + 1);
  const kind = token === undefined ? null : atomKind(token);
  if (token !== undefined && kind !== null) return readAtom(cursor, token, kind);
  if (token?.kind === 'broken') cursor.at += 1;
  else if (token?.kind === 'colon' || token?.kind === 'slop' || token?.kind === 'boost')
    strayToken(cursor, token);
  else missingValue(cursor, start);
  return null;
}

function strayToken(cursor: Cursor, token: Lexeme): void {
  const { start, end } = token;
  const message = `\`${cursor.text.slice(start, end)}\` has nothing to stand on. Remove it, or quote the text.`;
  const fix = token.kind === 'colon' ? literalColon(cursor) : replace('Remove it', [start, end], '');
  cursor.report(error('stray_character', message, [start, end], [fix]));
  cursor.at += 1;
}

/** Reads a second colon, as in `title:foo:bar`, as part of the value. */
function literalColon(cursor: Cursor): Fix {
  const [before, colon, after] = cursor.lexemes.slice(Math.max(0, cursor.at - 1), cursor.at + 2);
  const inWord = before?.kind === 'term' && after?.kind === 'term' && before.end + 1 === after.start;
  if (inWord)
    return replace('Quote it', [before.start, after.end], quote(cursor.text.slice(before.start, after.end)));
  const start = cursor.lexemes[cursor.at]?.start ?? colon?.start ?? 0;
  return replace('Escape it', [start, start], '\\');
}

/** After a modifier or a field, up to which everything since `start` has been read. */
function missingValue(cursor: Cursor, start: number): void {
  const end = cursor.lexemes[cursor.at - 1]?.end ?? start;
  if (end <= start) return;
  const what = cursor.text.slice(start, end);
  const message = `Something to look for is missing after \`${what}\`.`;
  const from = Math.max(0, start - 12);
  const before =
    /(?:^|\s+)(?:AND|OR|&&|\|\|)?\s*$/.exec(cursor.text.slice(from, start))?.index ?? start - from;
  const isLast = cursor.at >= cursor.lexemes.length;
  const fix = replace(`Remove \`${what}\``, [isLast ? from + before : start, end], '');
  cursor.report(error('missing_value', message, [start, end], [fix]));
}

function readGroup(cursor: Cursor, depth: number): Group | null {
  const open = cursor.at;
  const start = cursor.lexemes[cursor.at]?.start ?? 0;
  if (depth > limits.depth) return skipTooDeep(cursor);
  cursor.at += 1;
  const group: Group = { type: 'group', clauses: [], span: [start, start + 1], depth, boost: null };
  clauses(cursor, group);
  const close = peek(cursor);
  if (close === undefined) {
    const end = trimmedEnd(cursor.text);
    group.span = [start, end];
    const message = 'This parenthesis is never closed.';
    const fix = replace('Add `)`', [end, end], ')');
    cursor.report(error('unclosed_paren', message, [start, start + 1], [fix]));
  } else {
    group.span = [start, close.end];
    cursor.at += 1;
    if (cursor.at === open + 2) {
      const message = 'These parentheses are empty. Put a clause between them or remove them.';
      cursor.report(error('empty_group', message, group.span));
      return null;
    }
    group.boost = readBoost(cursor);
  }
  return group.clauses.length === 0 ? null : group;
}

/** Skips the group without recursion. */
function skipTooDeep(cursor: Cursor): null {
  const start = cursor.lexemes[cursor.at]?.start ?? 0;
  let open = 0;
  do {
    if (peek(cursor)?.kind === 'open') open += 1;
    else if (peek(cursor)?.kind === 'close') open -= 1;
    cursor.at += 1;
  } while (open > 0 && cursor.at < cursor.lexemes.length);
  const end = cursor.lexemes[cursor.at - 1]?.end ?? cursor.text.length;
  cursor.report(
    error('too_deep', `Parentheses may be nested ${limits.depth} deep. Flatten the rule.`, [start, end]),
  );
  return null;
}

function isModifier({ kind }: Lexeme): boolean {
  return kind === 'not' || kind === 'plus' || kind === 'minus';
}

function withSpaceAfter(text: string, [start, end]: Span): Span {
  let to = end;
  while (isWhite(text.charCodeAt(to))) to += 1;
  return [start, to];
}

function trimmedEnd(text: string): number {
  let end = text.length;
  while (end > 0 && isWhite(text.charCodeAt(end - 1))) end -= 1;
  return end;
}
