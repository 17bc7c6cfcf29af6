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

/** Real items are nested about ten deep. Far beyond, whoever serialises one overflows the stack. */
export const itemDepthMax = 64;
/** Small objects and lists take forty times their bytes. */
const containersMax = 250_000;
const quote = 0x22;
const backslash = 0x5c;

/**
 * What keeps JSON from being parsed; null when nothing does. Looked at in the text: parsing 16 MiB of brackets takes
 * seconds and a gigabyte.
 */
export function unparsable(
  text: string,
  depthMax: number,
): Extract<DropReason, 'nested_too_deep' | 'too_large'> | null {
  let depth = 0;
  let containers = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > depthMax) return 'nested_too_deep';
      if (++containers > containersMax) return 'too_large';
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return null;
}

/** The place of the quote that closes the string, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
