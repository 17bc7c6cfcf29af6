import { amount, choice, type Positions } from '../knobs.ts';

/** Assumptions about X (x.md §15) that may be wrong, each with its number. */
export const xKnobs = {
  /** whether an invalid rule rejects its whole batch. */
  batchPolicy: choice('partial', 'all_or_nothing'),
  /** */
  rulesPerCallMax: amount(Number.MAX_SAFE_INTEGER),
  /** */
  tagLengthMax: amount(Number.MAX_SAFE_INTEGER),
  /** */
  lengthUnit: choice('utf16', 'code_points', 'bytes'),
  /** whether runs of spaces become one, for duplicates and in every answer. */
  values: choice('verbatim', 'one_space'),
  /** what happens to a connection beyond the limit. */
  secondConnection: choice('refuse', 'replace'),
  /** service time for which a connection still counts after its client has gone. */
  connectionHoldMs: amount(0),
  /** what happens to a stream whose last rule is deleted. */
  withoutRules: choice('idles', 'closes'),
  /** whether usage counts posts that are delivered as expansions. */
  expansions: choice('billed', 'free'),
  /** */
  backfill: choice('refused', 'ignored'),
  /** real time for which a deleted rule still matches, where it is longer than the delay of all rule changes. */
  deletionLagMs: amount(0),
  /** */
  keepAliveMs: amount(20_000),
  /** whether a DuplicateRule error has the id of the existing rule. */
  duplicates: choice('with_id', 'without_id'),
  /** the vocabulary of search. */
  searchDialect: choice('post', 'tweet'),
  /** the vocabulary of the stream. */
  streamDialect: choice('tweet', 'post'),
  /** */
  usage: choice('open', 'not_enrolled'),
};

export type XKnobs = Positions<typeof xKnobs>;
