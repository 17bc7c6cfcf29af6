import type { MatchPayload, Platform } from '@earshot/contract';
import { z } from 'zod';
import type { DropReason } from '../observability/metrics.ts';
import type { StreamEnding } from './upstream-stream.ts';

/** One post or page as a source delivered it, with the upstream rules that it matched. In the event log it is an event. */
export interface Item {
  readonly platform: Platform;
  readonly sourceId: string;
  /** The upstream's own name for this delivery: post id on `x`, `{partition}-{offset}` on `firehose`. */
  readonly upstreamEventId: string;
  /** Derived from the content, so the same item has the same key on every path. */
  readonly key: string;
  /** UTC day of the item itself, never of the clock: a replay lands in the same partition. */
  readonly day: string;
  readonly platformPostId: string;
  readonly rules: readonly MatchedRule[];
  readonly payload: MatchPayload;
  /** Absent: the stream delivered it. */
  readonly via?: 'search';
}

export interface MatchedRule {
  readonly upstreamRuleId: string;
  /** Null where the platform does not name it. */
  readonly tag: string | null;
}

/** What a platform sent, understood. */
export type Reading =
  | { readonly kind: 'item'; readonly item: Item }
  /** The end of the stream, announced inside of it. */
  | { readonly kind: 'control'; readonly ending: StreamEnding; readonly words: string }
  | { readonly kind: 'dropped'; readonly reason: DropReason };

/** For what becomes a value of its own in the database: PostgreSQL's text cannot hold U+0000 (I8). */
export const storableText = z.string().refine((text) => !text.includes('\0'));
