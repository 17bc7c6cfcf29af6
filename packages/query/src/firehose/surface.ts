import type { Node, Span } from '../ast.ts';

/**
 * The rule as it is written: clause lists per parenthesis level, before Lucene's clause rules turn them into
 * a strict tree. Validation needs it, because the tree no longer contains clauses that those rules ignore.
 */
export interface Group {
  readonly type: 'group';
  readonly clauses: Clause[];
  /** With its parentheses; the whole text for the top level. */
  span: Span;
  readonly depth: number;
  boost: Span | null;
}

export type Occur = 'required' | 'optional' | 'prohibited';

export interface Clause {
  readonly conjunction: Conjunction | null;
  readonly modifier: Modifier | null;
  readonly field: FieldName | null;
  readonly body: Atom | Group;
  /** Modifier, field and body; not the conjunction. */
  readonly span: Span;
  occur: Occur;
  /** The meaning of the clause; null when text analysis removes all of it (stop words, punctuation). */
  node: Node | null;
  /** True for an optional clause beside a required one: it changes only Lucene's score and never decides. */
  dead: boolean;
}

export interface Conjunction {
  readonly kind: 'and' | 'or';
  readonly span: Span;
}

export interface Modifier {
  readonly kind: 'require' | 'prohibit';
  readonly span: Span;
}

export interface FieldName {
  readonly name: string;
  readonly span: Span;
}

export interface Atom {
  readonly type: 'atom';
  readonly kind: 'term' | 'quoted' | 'prefix' | 'wildcard' | 'regex' | 'range' | 'lone_sign';
  /** Without quotes, slashes and escapes; a wildcard keeps `\` before `*`, `?` and `\`. */
  readonly value: string;
  readonly range: RangeBounds | null;
  /** The value alone, without `~` and `^`. */
  readonly span: Span;
  readonly slop: { readonly value: number | null; readonly span: Span } | null;
  readonly boost: Span | null;
}

export interface RangeBounds {
  readonly low: string | null;
  readonly high: string | null;
  readonly includeLow: boolean;
  readonly includeHigh: boolean;
  readonly highSpan: Span;
}
