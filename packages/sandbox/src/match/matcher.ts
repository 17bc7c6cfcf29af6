/** A rule that is ready to be tried on documents. */
export interface Matcher<Document> {
  test(document: Document): boolean;
  /** A document that has none of these keys cannot match; undefined when there is no such set. */
  readonly anyOfKeys: readonly string[] | undefined;
}

export type Compiled<Document> =
  | { ok: true; matcher: Matcher<Document> }
  /** In the words of the service. */
  | { ok: false; details: string[] };

/** Documents carry the keys by which rules are looked up. */
export interface Keyed {
  readonly keys: ReadonlySet<string>;
}
