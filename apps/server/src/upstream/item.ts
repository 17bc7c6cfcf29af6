import type { MatchPayload, Platform } from '@earshot/contract';
import { z } from 'zod';
import type { DropReason } from '../observability/metrics.ts';
import type { StreamEnding } from './upstream-stream.ts';

/**
 * One post or page as a source delivered it, with the upstream rules that it matched. In the event log, it is called
 * an event.
 */
export interface Item {
  readonly platform: Platform;
  readonly sourceId: string;
  /** The platform's id of this delivery: post id on `x`, `{partition}-{offset}` on `firehose`. */
  readonly upstreamEventId: string;
  /** Derived from the content, so the same item has the same key on every path. */
  readonly key: string;
  /** UTC day of the item itself, not of the clock, so that a replay is stored in the same partition. */
  readonly day: string;
  readonly platformPostId: string;
  readonly rules: readonly MatchedRule[];
  readonly payload: MatchPayload;
  /** Absent if the stream delivered it. */
  readonly via?: 'search';
}

export interface MatchedRule {
  readonly upstreamRuleId: string;
  /** Null if the platform does not send it. */
  readonly tag: string | null;
}

/** The parsed form of what a platform sent. */
export type Reading =
  | { readonly kind: 'item'; readonly item: Item }
  /** The end of the stream, announced in the stream. */
  | { readonly kind: 'control'; readonly ending: StreamEnding; readonly words: string }
  | { readonly kind: 'dropped'; readonly reason: DropReason };

/** For text that gets its own database column: PostgreSQL cannot store U+0000 (I8). */
export const storableText = z.string().refine((text) => !text.includes('\0'));

/** Real items are nested about ten levels deep. Far deeper ones would overflow the stack when serialised. */
export const itemDepthMax = 64;
/** Small objects and lists need forty times their size in memory. */
const containersMax = 250_000;
const quote = 0x22;
const backslash = 0x5c;

/**
 * Why JSON must not be parsed; null if it may. Checks the text, because parsing 16 MiB of brackets takes seconds and
 * a gigabyte.
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

/** The index of the quote that closes the string, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
