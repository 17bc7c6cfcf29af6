/**
 * What a rule language has to supply. The sandbox brings simple versions of both; the full languages can take
 * their place without any other change.
 */
export type Matcher<Document> = {
  test: (document: Document) => boolean;
  /** A document that has none of these keys cannot match; undefined when there is no such set. */
  anyOfKeys: readonly string[] | undefined;
};

export type Compiled<Document> = { ok: true; matcher: Matcher<Document> } | { ok: false; details: string[] };

export type Compile<Document> = (value: string) => Compiled<Document>;

/** Documents carry the keys by which rules are looked up. */
export type Keyed = { keys: ReadonlySet<string> };
