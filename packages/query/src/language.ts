import type { Node, Span } from './ast.ts';
import type { Diagnostic } from './diagnostics.ts';

export type Platform = 'x' | 'firehose' | 'bluesky';

/** For syntax highlighting in an editor. Tokens are in text order and never overlap. */
export type TokenKind =
  | 'word'
  | 'phrase'
  | 'field'
  | 'value'
  | 'operator'
  | 'negation'
  | 'bracket'
  | 'invalid';

export interface Token {
  readonly kind: TokenKind;
  readonly span: Span;
}

export interface Parsed {
  readonly text: string;
  /** The best tree that recovery could build; null when the rule has no clause at all. */
  readonly root: Node | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly tokens: readonly Token[];
}

export interface ValidateOptions {
  /** What the platform account may use. Default `standard`: X pay-per-use, every Firehose account. */
  readonly tier?: Tier;
}

export type Tier = 'standard' | 'enterprise' | 'embedding';

export interface Validated {
  /** True if there is no error and no suspicious finding. */
  readonly valid: boolean;
  readonly diagnostics: readonly Diagnostic[];
  /** The text to register, equal for equal rules; null when there is an error. With suspicious findings: what is registered if they are accepted. */
  readonly canonical: string | null;
  readonly root: Node | null;
}

export type State = 'match' | 'no_match' | 'unknown';

export interface Verdict {
  readonly state: State;
  readonly confidence: 'exact' | 'approximate';
}

/** A place in the delivered item that decides a leaf. */
export interface Evidence {
  /** The leaf's place in the rule text. */
  readonly rule: Span;
  /** The leaf's operator or field, for example `keyword`, `from`, `title`. */
  readonly field: string;
  /** Where in the item, for example `data.text` or `includes.tweets[0].lang`. */
  readonly path: string;
  /** UTF-16 offsets into the original string at `path`; null when the whole value is meant. */
  readonly range: Span | null;
  /** The text at that place, bounded in length. */
  readonly value: string;
}

/** The verdict of one leaf on one item, from which explain.ts derives that of the rule. */
export interface LeafVerdict extends Verdict {
  /** For a match, the smallest evidence; for a miss, the value that contradicts the leaf; for an unknown, what speaks for it. */
  readonly evidence: readonly Evidence[];
  /** Why the leaf misses or is unknown, as a message. */
  readonly why?: string;
}

export interface Flip {
  /** The leaf's place in the rule text. */
  readonly rule: Span;
  readonly field: string;
  /** Whether the leaf's content would have to appear in the item or disappear from it. */
  readonly change: 'appear' | 'disappear';
  readonly why: string;
}

export interface Explanation extends Verdict {
  /**
   * The smallest set of places that is enough for this verdict. When it is unknown: for a match, with the undecided leaves taken
   * as satisfied, because the platform delivers only matches.
   */
  readonly witness: readonly Evidence[];
  /** For a match: negated leaves that would end it if they appeared. */
  readonly breakers: readonly Flip[];
  /** For a non-match: leaves each of which alone, changed, would make the item match. */
  readonly nearMisses: readonly Flip[];
  /** Leaves that the item does not decide. */
  readonly undecided: readonly Flip[];
}

export interface OperatorGuide {
  readonly name: string;
  readonly form: string;
  readonly meaning: string;
  readonly standalone: boolean;
  readonly negatable: boolean;
  readonly examples: readonly string[];
  readonly tier: Tier;
}

export interface SyntaxGuide {
  readonly platform: Platform;
  readonly rule_type: 'premium' | 'regular';
  readonly summary: string;
  readonly grammar_version: string;
  readonly limits: Readonly<Record<string, number>>;
  readonly precedence: string;
  readonly operators: readonly OperatorGuide[];
  readonly pitfalls: readonly { readonly wrong: string; readonly right: string; readonly why: string }[];
  readonly examples: readonly {
    readonly intent: string;
    readonly value: string;
    readonly explanation: string;
  }[];
  readonly markdown: string;
}

export interface Language {
  readonly platform: Platform;
  /** Never throws, finds all syntax errors at once, linear time. */
  readonly parse: (text: string) => Parsed;
  readonly validate: (text: string, options?: ValidateOptions) => Validated;
  /** Null when there are errors. */
  readonly canonical: (parsed: Parsed) => string | null;
  /** `payload` is the item as the platform delivers it. */
  readonly evaluate: (root: Node, payload: unknown) => Verdict;
  readonly explain: (root: Node, payload: unknown) => Explanation;
  readonly guide: () => SyntaxGuide;
}
