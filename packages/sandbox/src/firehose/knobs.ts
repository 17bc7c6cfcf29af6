import { amount, choice, type Positions } from '../knobs.ts';

/** Assumptions about Firehose (firehose.md §17) that may be wrong, each with its number. */
export const firehoseKnobs = {
  /** F-8: more rules than this are counted, but not listed. */
  listMax: amount(Number.MAX_SAFE_INTEGER),
  /** F-9 */
  duplicateRules: choice('taken', 'refused'),
  /** F-46: real time for which a deleted rule still matches. */
  deletionLagMs: amount(0),
  /** F-13: whether the answer of validate is in `data`. */
  validation: choice('wrapped', 'bare'),
  /** F-15: what happens to a `since` beyond 24 h. */
  longSince: choice('refused', 'shortened'),
  /** F-17, F-18: what happens to an event id that is malformed, or older than the oldest kept event. */
  cursors: choice('lenient', 'strict'),
  /** F-19 */
  keepAlive: choice('none', 'comments'),
  /** F-21: streams of one tap at the same time. */
  streamsMax: amount(Number.MAX_SAFE_INTEGER),
  /** F-23: where a 422 has its reason. */
  refusals: choice('in_message', 'in_errors'),
  /** F-29: the operator between adjacent words. */
  defaultOperator: choice('or', 'and'),
  /** F-39 */
  ruleCap: amount(Number.MAX_SAFE_INTEGER),
  /** F-40 */
  ruleIds: choice('query_ids', 'query_id'),
};

export type FirehoseKnobs = Positions<typeof firehoseKnobs>;
