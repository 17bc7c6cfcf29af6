import type { Node } from './ast.ts';
import type { Explanation, Verdict } from './language.ts';

/** An item in the form of a match's payload, complete or not: missing and null fields are unknown. */
export interface ExamplePayload {
  readonly url?: string | null | undefined;
  readonly title?: string | null | undefined;
  readonly text?: string | null | undefined;
  readonly author?: ExampleAuthor | null | undefined;
  readonly published_at?: string | null | undefined;
  readonly language?: string | null | undefined;
  /** The item as the platform delivers it; the other fields are then ignored. */
  readonly raw?: Readonly<Record<string, unknown>> | null | undefined;
}

interface ExampleAuthor {
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly handle?: string | null | undefined;
}

/** An item prepared for evaluating a rule and its parts. */
export interface ReadItem {
  readonly evaluate: (node: Node) => Verdict;
  readonly explain: (node: Node) => Explanation;
}
