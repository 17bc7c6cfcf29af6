import type { Node, NotNode, Span } from '../ast.ts';
import { type Diagnostic, type Fix, replacement } from '../diagnostics.ts';
import type { Parsed, Token, TokenKind } from '../language.ts';
import { clauseWithSpace } from './cut.ts';
import { leafOf } from './leaf.ts';
import { type Lexeme, lex } from './lexer.ts';
import { outerFilters } from './outer-filters.ts';
import { depthMax, parseLengthMax } from './tables.ts';

interface Parser {
  readonly text: string;
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
export function readRule(text: string): Rule {
  if (text.length > parseLengthMax)
    return { text, root: null, diagnostics: [hopelesslyLong(text)], lexemes: [] };
  const { lexemes, diagnostics } = lex(text);
  const parser: Parser = { text, lexemes, diagnostics, at: 0, tooDeep: false };
  const root = parseOr(parser, 0);
  if (lexemes.length === 0) diagnostics.push(emptyRule(text));
  return { text, root, diagnostics, lexemes };
}

export function parse(text: string): Parsed {
  const { root, diagnostics, lexemes } = readRule(text);
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
    report(parser, {
      code: 'dangling_minus',
      message: 'A dash negates the clause that touches it; nothing follows this one.',
      span,
      fixes: [replacement('Remove the dash', span, '')],
    });
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
    report(parser, {
      code: 'space_after_minus',
      message: 'The dash of a negation must touch its clause.',
      span: [first.start, lastEnd],
      fixes: [replacement('Remove the space', [lastEnd, primary.start], '')],
    });
  }
  if (dashes === 1) return;
  parser.diagnostics.push({
    severity: 'warning',
    code: 'double_negation',
    message: 'X reads several dashes as one: the clause is excluded. Write one dash, or none.',
    span: [first.start, lastEnd],
    fixes: [replacement('Use one dash', [first.start, lastEnd], '-')],
  });
}

/** primary = "(" , ws , or , ws , ")" | clause */
function parsePrimary(parser: Parser, next: Lexeme, depth: number): Node | null {
  parser.at += 1;
  if (next.kind !== 'open') return leafOf(parser.text, next);
  if (depth >= depthMax) return skipGroup(parser, next);
  const inner = parseOr(parser, depth + 1);
  const close = parser.lexemes[parser.at];
  if (close === undefined) return unclosedGroup(parser, next, inner);
  const empty = parser.lexemes[parser.at - 1] === next;
  parser.at += 1;
  const span: Span = [next.start, close.end];
  if (empty) {
    const message = 'These parentheses hold nothing. Remove them.';
    report(parser, { code: 'empty_group', message, span, fixes: [replacement('Remove ()', span, '')] });
  }
  return inner === null ? null : withSpan(inner, span);
}

function withSpan(node: Node, span: Span): Node {
  return { ...node, span };
}

function unclosedGroup(parser: Parser, open: Lexeme, inner: Node | null): Node | null {
  const last = parser.lexemes.at(-1) ?? open;
  report(parser, {
    code: 'unclosed_parenthesis',
    message: 'This parenthesis is never closed. Add ) where the group ends.',
    span: [open.start, open.end],
    fixes:
      inner === null
        ? [replacement('Remove (', [open.start, open.end], '')]
        : closingFixes(parser.text, inner, last),
  });
  return inner === null ? null : withSpan(inner, [open.start, last.end]);
}

/** Filters at the end were probably meant for the whole group: `(a OR b lang:en` is closed before `lang:en` first. */
function closingFixes(text: string, inner: Node, last: Lexeme): Fix[] {
  const early = outerFilters(inner)?.coreEnd ?? last.end;
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
    report(parser, { code: 'too_deep', message, span: [open.start, open.end], fixes: [] });
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
  report(parser, {
    code: 'or_without_operand',
    message,
    span,
    fixes: [replacement('Remove OR', clauseWithSpace(parser.text, span), '')],
  });
}

function reportUnmatched(parser: Parser, close: Lexeme): void {
  const message = 'This parenthesis closes nothing. Remove it, or open one before.';
  const span: Span = [close.start, close.end];
  report(parser, {
    code: 'unmatched_parenthesis',
    message,
    span,
    fixes: [replacement('Remove )', span, '')],
  });
}

function report(parser: Parser, problem: Omit<Diagnostic, 'severity'>): void {
  parser.diagnostics.push({ severity: 'error', ...problem });
}

function emptyRule(text: string): Diagnostic {
  return {
    severity: 'error',
    code: 'empty_rule',
    message: 'The rule is empty. Write at least one word or operator.',
    span: [0, text.length],
    fixes: [],
  };
}

function hopelesslyLong(text: string): Diagnostic {
  const message = `The rule has ${text.length} characters, far above what X accepts. Split it into several rules.`;
  return { severity: 'error', code: 'too_long', message, span: [0, text.length], fixes: [] };
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
