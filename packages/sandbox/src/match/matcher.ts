/** A compiled rule. */
export interface Matcher<Item> {
  test(item: Item): boolean;
  /** An item without any of these keys cannot match; undefined when an item may match without keys. */
  readonly anyOfKeys: readonly string[] | undefined;
}

export type Compiled<Item> =
  | { ok: true; matcher: Matcher<Item> }
  /** Worded as the platform words them. */
  | { ok: false; details: string[] };

/** An item with the keys by which rules are looked up. */
export interface Keyed {
  readonly keys: ReadonlySet<string>;
}
