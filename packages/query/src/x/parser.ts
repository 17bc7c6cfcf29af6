import type { Node, NotNode, Span } from '../ast.ts';
import { certain, type Diagnostic, error, type Fix, replacement, warning } from '../diagnostics.ts';
import type { Parsed, Token, TokenKind } from '../language.ts';
import { cutting } from './cut.ts';
import { type Dialect, depthMax, parseLengthMax } from './dialect.ts';
import { leafOf } from './leaf.ts';
import { type Lexeme, lex } from './lexer.ts';
import { outerFilters } from './outer-filters.ts';

interface Parser {
  readonly text: string;
  readonly dialect: Dialect;
  readonly lexemes: readonly Lexeme[];
  readonly diagnostics: Diagnostic[];
  at: number;
  tooDeep: boolean;
}

/** Parses for validation, without the tokens for highlighting. */
export interface Rule extends Omit<Parsed, 'tokens'> {
  readonly lexemes: readonly Lexeme[];
}

/** rule = ws , or , ws */
export function readRule(text: string, dialect: Dialect): Rule {
  if (text.length > parseLengthMax)
    return { text, root: null, diagnostics: [hopelesslyLong(text, dialect)], lexemes: [] };
  const { lexemes, diagnostics } = lex(text, dialect);
  const parser: Parser = { text, dialect, lexemes, diagnostics, at: 0, tooDeep: false };
  const root = parseOr(parser, 0);
  if (lexemes.length === 0) diagnostics.push(emptyRule(text));
  return { text, root, diagnostics, lexemes };
}

export function parse(text: string, dialect: Dialect): Parsed {
  const { root, diagnostics, lexemes } = readRule(text, dialect);
  return { text, root, diagnostics, tokens: tokensOf(lexemes) };
}

/** or = and , { ws1 , "OR" , ws1 , and } */
function parseOr(parser: Parser, depth: number): Node | null {
  const branches: Node[] = [];
  let waiting: Lexeme | null = null;
  for (;;) {
    const branch = parseAnd(parser, depth);
    const next = parser.lexemes[parser.at];
    if (branch !== null) {
      branches.push(branch);
      waiting = null;
    } else if (next?.kind === 'or') {
      reportOr(parser, next, waiting === null ? 'before' : 'after');
    }
    if (next?.kind !== 'or') break;
    if (branch !== null) waiting = next;
    parser.at += 1;
  }
  if (waiting !== null) reportOr(parser, waiting, 'after');
  return join('or', branches);
}

/** and = unary , { ws1 , unary }; white space means AND. A stray `)` on the outermost level is reported and skipped. */
function parseAnd(parser: Parser, depth: number): Node | null {
  const parts: Node[] = [];
  for (;;) {
    const next = parser.lexemes[parser.at];
    if (next === undefined || next.kind === 'or') break;
    if (next.kind === 'close') {
      if (depth > 0) break;
      parser.at += 1;
      reportUnmatched(parser, next);
      continue;
    }
    const part = parseUnary(parser, next, depth);
    if (part !== null) parts.push(part);
  }
  return join('and', parts);
}

function join(kind: 'and' | 'or', children: readonly Node[]): Node | null {
  const first = children[0];
  const last = children.at(-1);
  if (first === undefined || last === undefined) return null;
  return children.length === 1 ? first : { kind, children, span: [first.span[0], last.span[1]] };
}

/** unary = [ "-" ] , primary; the dash touches what follows. X reads several dashes as one (x.md §10.1). */
function parseUnary(parser: Parser, first: Lexeme, depth: number): Node | null {
  let dashes = 0;
  let next: Lexeme | undefined = first;
  while (next?.kind === 'minus') {
    dashes += 1;
    parser.at += 1;
    next = parser.lexemes[parser.at];
  }
  if (next === undefined || next.kind === 'or' || next.kind === 'close') {
    const span: Span = [first.start, parser.lexemes[parser.at - 1]?.end ?? first.end];
    const message = 'A dash negates the clause that touches it; nothing follows this one.';
    parser.diagnostics.push(
      error('dangling_minus', message, span, [replacement('Remove the dash', span, '')]),
    );
    return null;
  }
  if (dashes > 0) checkDashes(parser, first, next, dashes);
  const primary = parsePrimary(parser, next, depth);
  if (dashes === 0 || primary === null) return primary;
  return { kind: 'not', child: primary, span: [first.start, primary.span[1]] } satisfies NotNode;
}

function checkDashes(parser: Parser, first: Lexeme, primary: Lexeme, dashes: number): void {
  const lastEnd = parser.lexemes[parser.at - 1]?.end ?? first.end;
  if (primary.spaced) {
    const message = 'The dash of a negation must touch its clause.';
    const fix = replacement('Remove the space', [lastEnd, primary.start], '');
    parser.diagnostics.push(error('space_after_minus', message, [first.start, lastEnd], [fix]));
  }
  if (dashes === 1) return;
  const message = `${parser.dialect.name} reads several dashes as one: the clause is excluded. Write one dash, or none.`;
  const fixes = [replacement('Use one dash', [first.start, lastEnd], '-')];
  parser.diagnostics.push(warning('double_negation', message, [first.start, lastEnd], fixes));
}

/** primary = "(" , ws , or , ws , ")" | clause */
function parsePrimary(parser: Parser, next: Lexeme, depth: number): Node | null {
  parser.at += 1;
  if (next.kind !== 'open') return leafOf(parser.text, next, parser.dialect);
  if (depth >= depthMax) return skipGroup(parser, next);
  const inner = parseOr(parser, depth + 1);
  const close = parser.lexemes[parser.at];
  if (close === undefined) return unclosedGroup(parser, next, inner);
  const empty = parser.lexemes[parser.at - 1] === next;
  parser.at += 1;
  const span: Span = [next.start, close.end];
  if (empty) {
    const message = 'These parentheses hold nothing. Remove them.';
    parser.diagnostics.push(
      error('empty_group', message, span, [certain(replacement('Remove ()', span, ''))]),
    );
  }
  return inner === null ? null : withSpan(inner, span);
}

function withSpan(node: Node, span: Span): Node {
  return { ...node, span };
}

function unclosedGroup(parser: Parser, open: Lexeme, inner: Node | null): Node | null {
  const last = parser.lexemes.at(-1) ?? open;
  const message = 'This parenthesis is never closed. Add ) where the group ends.';
  const fixes =
    inner === null
      ? [replacement('Remove (', [open.start, open.end], '')]
      : closingFixes(parser, inner, last);
  parser.diagnostics.push(error('unclosed_parenthesis', message, [open.start, open.end], fixes));
  return inner === null ? null : withSpan(inner, [open.start, last.end]);
}

/** Filters at the end were probably meant for the whole group: `(a OR b lang:en` is closed before `lang:en` first. */
function closingFixes({ text, dialect }: Parser, inner: Node, last: Lexeme): Fix[] {
  const early = outerFilters(inner, dialect)?.coreEnd ?? last.end;
  const fixes = early < last.end ? [replacement('Close it before the filters', [early, early], ')')] : [];
  const openQuote = last.quoted && text.slice(last.valueEnd, last.end).trim() === '';
  if (!openQuote) return [...fixes, replacement('Close it at the end', [last.end, last.end], ')')];
  // The group ends inside a phrase that is not closed either.
  const straight = text[last.valueStart - 1] === '"' && text[last.valueStart - 2] !== '\\';
  if (!straight || text[last.valueEnd - 1] === '\\') return fixes;
  return [...fixes, replacement('Close quote and group at the end', [last.valueEnd, last.valueEnd], '")')];
}

/** Nested too deeply: everything up to the matching parenthesis is left out of the tree. */
function skipGroup(parser: Parser, open: Lexeme): null {
  if (!parser.tooDeep) {
    const message = `Parentheses may be nested ${depthMax} deep. Remove the superfluous ones.`;
    parser.diagnostics.push(error('too_deep', message, [open.start, open.end]));
  }
  parser.tooDeep = true;
  for (let level = 1; level > 0 && parser.at < parser.lexemes.length; parser.at += 1) {
    const kind = parser.lexemes[parser.at]?.kind;
    if (kind === 'open') level += 1;
    if (kind === 'close') level -= 1;
  }
  return null;
}

function reportOr(parser: Parser, or: Lexeme, side: 'before' | 'after'): void {
  const message = `OR joins two clauses; there is none ${side} this one. Remove it, or write "or" in quotes if you mean the word.`;
  const span: Span = [or.start, or.end];
  const fix = cutting('Remove OR', parser.text, span);
  parser.diagnostics.push(error('or_without_operand', message, span, [fix]));
}

function reportUnmatched(parser: Parser, close: Lexeme): void {
  const message = 'This parenthesis closes nothing. Remove it, or open one before.';
  const span: Span = [close.start, close.end];
  parser.diagnostics.push(error('unmatched_parenthesis', message, span, [replacement('Remove )', span, '')]));
}

function emptyRule(text: string): Diagnostic {
  const message = 'The rule is empty. Write at least one word or operator.';
  return error('empty_rule', message, [0, text.length]);
}

function hopelesslyLong(text: string, { name }: Dialect): Diagnostic {
  const message = `The rule has ${text.length} characters, far above what ${name} accepts. Split it into several rules.`;
  return error('too_long', message, [0, text.length]);
}

const tokenKinds = {
  open: 'bracket',
  close: 'bracket',
  minus: 'negation',
  or: 'operator',
  word: 'word',
  phrase: 'phrase',
  hashtag: 'value',
  cashtag: 'value',
  mention: 'value',
} as const satisfies Record<Exclude<Lexeme['kind'], 'operator'>, TokenKind>;

function tokensOf(lexemes: readonly Lexeme[]): Token[] {
  const tokens: Token[] = [];
  for (const { kind, start, end, name } of lexemes) {
    if (kind !== 'operator') {
      tokens.push({ kind: tokenKinds[kind], span: [start, end] });
      continue;
    }
    const colonEnd = start + name.length + 1;
    tokens.push({ kind: 'field', span: [start, colonEnd] });
    if (end > colonEnd) tokens.push({ kind: 'value', span: [colonEnd, end] });
  }
  return tokens;
}
