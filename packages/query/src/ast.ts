/**
 * The tree of all rule languages, for validation, canonical form, evaluation and explanation. It is strictly
 * Boolean: the parsers have already applied the precedence and clause rules of their language. Spans are UTF-16
 * offsets into the rule text, end exclusive.
 */
export type Span = readonly [start: number, end: number];

export type Node = AndNode | OrNode | NotNode | NeverNode | LeafNode;

export interface AndNode {
  readonly kind: 'and';
  readonly children: readonly Node[];
  readonly span: Span;
}

export interface OrNode {
  readonly kind: 'or';
  readonly children: readonly Node[];
  readonly span: Span;
}

export interface NotNode {
  readonly kind: 'not';
  readonly child: Node;
  readonly span: Span;
}

/** A part that can match nothing, for example a Firehose group of negations only. */
export interface NeverNode {
  readonly kind: 'never';
  readonly why: 'only_negations' | 'empty_after_analysis';
  readonly span: Span;
}

export interface LeafNode {
  readonly kind: 'leaf';
  /** The operator or field: `keyword`, `from`, `lang`, `added`, `title`, …; a key of the language's table. */
  readonly field: string;
  readonly test: Test;
  readonly span: Span;
  readonly valueSpan: Span;
}

export type Test =
  | { readonly type: 'term'; readonly value: string; readonly written?: string }
  | {
      readonly type: 'phrase';
      readonly words: readonly string[];
      readonly slop: number;
      /** The text, where it is not the words with spaces: a platform may find other words in it. */
      readonly written?: string;
    }
  | { readonly type: 'prefix'; readonly value: string }
  | { readonly type: 'wildcard'; readonly pattern: string }
  | { readonly type: 'regex'; readonly source: string }
  | { readonly type: 'fuzzy'; readonly value: string; readonly distance: number }
  | {
      readonly type: 'range';
      readonly low: string | null;
      readonly high: string | null;
      readonly includeLow: boolean;
      readonly includeHigh: boolean;
    }
  | { readonly type: 'number'; readonly low: number | null; readonly high: number | null }
  | {
      readonly type: 'circle';
      readonly longitude: number;
      readonly latitude: number;
      readonly radiusKm: number;
    }
  | {
      readonly type: 'box';
      readonly west: number;
      readonly south: number;
      readonly east: number;
      readonly north: number;
    }
  | { readonly type: 'flag' }
  | { readonly type: 'opaque'; readonly value: string };
