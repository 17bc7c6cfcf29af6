/** Asks the platform what it finds for a rule in a time that the stream did not hear. */
export interface PostSearch {
  /** One page, newest first. Throws UpstreamUnavailable when nobody can say. */
  page(asked: SearchAsked, signal: AbortSignal): Promise<SearchPage>;
}

export interface SearchAsked {
  readonly value: string;
  readonly from: Date;
  readonly to: Date;
  /** 10 to 100. */
  readonly size: number;
  readonly token: string | null;
}

export type SearchPage =
  | {
      readonly kind: 'page';
      /** Each post as the stream would have delivered it, with its own includes and no rules. */
      readonly records: ReadonlyArray<Record<string, unknown>>;
      readonly next: string | null;
    }
  /** The platform does not take the question, and will not. */
  | { readonly kind: 'refused'; readonly words: string };

/** X replays what its stream delivered, or would have: an Enterprise product, for the last 24 hours. */
export interface Recovery {
  /** Records as the stream has them; the end of the job is the end of the iteration, anything else throws. */
  records(from: Date, to: Date, signal: AbortSignal): AsyncIterable<string>;
}
