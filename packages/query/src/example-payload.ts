import type { Node } from './ast.ts';
import type { Explanation, Verdict } from './language.ts';

/** An item as a match's payload shows it, or a part of one: what is missing or null is not known. */
export interface ExamplePayload {
  readonly url?: string | null | undefined;
  readonly title?: string | null | undefined;
  readonly text?: string | null | undefined;
  readonly author?: ExampleAuthor | null | undefined;
  readonly published_at?: string | null | undefined;
  readonly language?: string | null | undefined;
  /** The item as the platform delivers it; then the other fields do not count. */
  readonly raw?: Readonly<Record<string, unknown>> | null | undefined;
}

interface ExampleAuthor {
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly handle?: string | null | undefined;
}

/** An item that was read once and is asked about a rule and its parts. */
export interface ReadItem {
  readonly evaluate: (node: Node) => Verdict;
  readonly explain: (node: Node) => Explanation;
}
