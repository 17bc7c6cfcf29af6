import type { MatchPayload, Platform } from '@earshot/contract';

/** One post or page as a source delivered it, with the upstream rules that it matched. What the log carries. */
export interface StreamEvent {
  readonly platform: Platform;
  readonly sourceId: string;
  /** The upstream's own name for this delivery: post id on `x`, `{partition}-{offset}` on `firehose`. */
  readonly upstreamEventId: string;
  /** Derived from the content, so the same event has the same key on every path. */
  readonly key: string;
  /** UTC day of the event itself, never of the clock: a replay lands in the same partition. */
  readonly day: string;
  readonly platformPostId: string;
  readonly rules: readonly MatchedRule[];
  readonly payload: MatchPayload;
  /** Absent: the stream delivered it. */
  readonly via?: 'search';
}

export interface MatchedRule {
  readonly upstreamRuleId: string;
  /** Only `x` names the tag. */
  readonly tag: string | null;
}
