import type { Node } from '../ast.ts';
import { type Diagnostic, error } from '../diagnostics.ts';
import type { Parsed, Token, TokenKind } from '../language.ts';
import type { Lexeme, LexemeKind } from './lexeme.ts';
import { lower } from './lower.ts';
import { parseSurface } from './parser.ts';
import type { Group } from './surface.ts';
import { limits } from './tables.ts';

/** A parsed rule with the clauses as written, for validation. */
export interface ReadRule {
  readonly text: string;
  readonly root: Node | null;
  readonly diagnostics: Diagnostic[];
  /** Null when the text is too long to be parsed. */
  readonly top: Group | null;
  readonly lexemes: readonly Lexeme[];
}

/** Longer texts are refused without parsing. */
const readMax = 4 * limits.length;

export function parse(text: string): Parsed {
  const { root, diagnostics, lexemes } = readRule(text);
  return { text, root, diagnostics, tokens: highlight(lexemes) };
}

export function readRule(text: string): ReadRule {
  if (text.length > readMax)
    return { text, root: null, diagnostics: [tooLong(text)], top: null, lexemes: [] };
  const { top, lexemes, diagnostics } = parseSurface(text);
  if (text.length > limits.length) diagnostics.push(tooLong(text));
  if (lexemes.length === 0) {
    diagnostics.push(
      error('empty_rule', 'The rule is empty. Write something to look for.', [0, text.length]),
    );
  }
  return { text, root: lower(top), diagnostics, top, lexemes };
}

function tooLong(text: string): Diagnostic {
  const message = `The rule has ${text.length} characters; ${limits.length} are allowed. Split it into several rules.`;
  return error('too_long', message, [limits.length, text.length]);
}

const tokenKinds: Readonly<Record<LexemeKind, TokenKind>> = {
  and: 'operator',
  or: 'operator',
  not: 'negation',
  minus: 'negation',
  plus: 'operator',
  lone_sign: 'word',
  open: 'bracket',
  close: 'bracket',
  colon: 'field',
  quoted: 'phrase',
  term: 'word',
  prefix: 'word',
  wildcard: 'word',
  regex: 'value',
  range: 'value',
  slop: 'operator',
  boost: 'operator',
  broken: 'invalid',
};

function highlight(lexemes: readonly Lexeme[]): Token[] {
  return lexemes.map(({ kind, start, end }, index) => {
    const named = lexemes[index + 1]?.kind === 'colon' && (kind === 'term' || kind === 'wildcard');
    const valued = lexemes[index - 1]?.kind === 'colon' && tokenKinds[kind] === 'word';
    return { kind: named ? 'field' : valued ? 'value' : tokenKinds[kind], span: [start, end] };
  });
}
