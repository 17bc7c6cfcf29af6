import type { Node, Span } from '../../ast.ts';
import { type Diagnostic, type Fix, replace } from '../../diagnostics.ts';
import { quote } from '../escape.ts';
import type { Atom, Clause, Group } from '../surface.ts';

/** What a validation rule can read. Rules report and never throw. */
export interface View {
  readonly text: string;
  readonly root: Node | null;
  /** The clauses may differ from what the author intended. */
  readonly hasSyntaxErrors: boolean;
  /** Places of quotes that do not make a phrase. */
  readonly foreignQuotes: readonly number[];
  readonly top: Group;
  readonly groups: readonly Group[];
  readonly clauses: readonly PlacedClause[];
  readonly atoms: readonly PlacedAtom[];
  report(diagnostic: Diagnostic): void;
  suggestionsLeft: number;
}

export interface PlacedClause {
  readonly clause: Clause;
  readonly group: Group;
  readonly index: number;
  /** Its own field, or the one of the nearest group that has one, or the default. */
  readonly field: string;
}

export interface PlacedAtom extends PlacedClause {
  readonly atom: Atom;
}

export type ViewRule = (view: View) => void;
export type GroupRule = (group: Group, view: View) => void;
export type AtomRule = (placed: PlacedAtom, view: View) => void;

export function source(view: View, span: Span): string {
  return view.text.slice(span[0], span[1]);
}

/** Removes a clause with the operator that joins it; no fix when it is alone on its level. */
export function removal(placed: PlacedClause, title = 'Remove it'): Fix[] {
  const { clause, group, index } = placed;
  const previous = group.clauses[index - 1];
  const next = group.clauses[index + 1];
  if (previous !== undefined) return [replace(title, [previous.span[1], clause.span[1]], '')];
  return next === undefined ? [] : [replace(title, [clause.span[0], next.span[0]], '')];
}

/** A value in quotes or a bare word, as opposed to a pattern or a range. */
export function isPlainValue({ atom }: PlacedAtom): boolean {
  return atom.kind === 'quoted' || atom.kind === 'lone_sign' || (atom.kind === 'term' && atom.slop === null);
}

/**
 * Whether the clauses of this level are what the author intended. After a syntax error, with typographic quotes, or
 * with a slash that was read as a regular expression they are not, and advice on their operators would mislead.
 */
export function isAsSeen(group: Group, view: View): boolean {
  if (view.hasSyntaxErrors || view.foreignQuotes.length > 0) return false;
  return !group.clauses.some(({ span }, index) => {
    const previous = group.clauses[index - 1]?.body;
    return previous?.type === 'atom' && previous.kind === 'regex' && previous.span[1] === span[0];
  });
}

/** Where typographic quotes stand, and single ones around a value. An apostrophe inside a word is none. */
export function foreignQuotes(text: string): readonly number[] {
  if (!/[“”„«»'‘]/.test(text)) return [];
  const places = new Set<number>();
  for (const { index } of text.matchAll(/[“”„«»]/g)) places.add(index);
  for (const found of text.matchAll(/(?<=^|[\s(:])(?:'[^'"]*'|‘[^’"]*’)(?=$|[\s)])/g)) {
    if (found[0].length < 3) continue;
    places.add(found.index).add(found.index + found[0].length - 1);
  }
  return [...places].toSorted((a, b) => a - b);
}

/** The parts of `a,b`, which is no list here; null for numbers such as `1,000`. */
export function listItems(value: string): string[] | null {
  const items = value.split(/[,;،、，；]/u);
  return items.length > 1 && items.every((item) => /^[^\s"]+$/.test(item) && !/^\d/.test(item))
    ? items
    : null;
}

export function eitherOf(items: readonly string[], span: Span): Fix {
  return replace('Either is enough: OR', span, `(${items.map(quote).join(' OR ')})`);
}

/** Plain words only, as in "trick or treat": what looks like an operator may belong to a phrase. */
export function isProse(text: string): boolean {
  return text.length <= 200 && /^[\p{L}\p{M}\p{N}'’\s]*$/u.test(text) && !/\b(?:AND|OR|NOT)\b/.test(text);
}

const foreignOperators: ReadonlyMap<string, 'AND' | 'OR' | 'NOT' | 'NEAR'> = new Map([
  ['|', 'OR'],
  ['&', 'AND'],
  ['UND', 'AND'],
  ['ODER', 'OR'],
  ['NICHT', 'NOT'],
  ['ET', 'AND'],
  ['OU', 'OR'],
  ['NEAR', 'NEAR'],
]);

/** What an operator of another language or search engine means; undefined for everything else. */
export function foreignMeaning({ kind, value }: Atom): 'AND' | 'OR' | 'NOT' | 'NEAR' | undefined {
  return kind === 'term' ? foreignOperators.get(value) : undefined;
}

export function isForeignOperator(atom: Atom): boolean {
  return foreignMeaning(atom) !== undefined;
}

/** `and`, `or` and `not` in any spelling that is not the operator. */
export function isOperatorWord({ kind, value }: Atom): boolean {
  return kind === 'term' && value.length <= 3 && /^(?:and|or|not)$/i.test(value);
}
