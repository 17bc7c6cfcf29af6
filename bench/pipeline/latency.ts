import { z } from 'zod';
import type { System } from './system.ts';

const pageSchema = z.object({
  next_cursor: z.string(),
  matches: z.array(z.object({ created_at: z.string(), payload: z.object({ text: z.string() }) })),
});

/** Milliseconds, sorted. */
export interface Latencies {
  /** From just before an item is put into the sandbox until the caller has its match. */
  readonly whole: readonly number[];
  /** The part of it after the match was written. */
  readonly listing: readonly number[];
}

/** Follows the matches by long poll until `items` newer than the cursor are seen. */
export async function followLatencies(
  { call }: System,
  cursor: string,
  items: () => number,
): Promise<Latencies> {
  const [whole, listing]: [number[], number[]] = [[], []];
  for (let at = cursor; whole.length < items(); ) {
    const page = pageSchema.parse(
      await call('/matches', { order: 'oldest', limit: 100, cursor: at, wait_seconds: 5 }),
    );
    const now = Date.now();
    for (const { payload, created_at } of page.matches) {
      whole.push(now - sentAt(payload.text));
      listing.push(now - Date.parse(created_at));
    }
    at = page.next_cursor;
  }
  const inOrder = (values: number[]) => values.toSorted((a, b) => a - b);
  return { whole: inOrder(whole), listing: inOrder(listing) };
}

/** The position after the newest stored match. */
export async function lastCursor({ call }: System): Promise<string> {
  let cursor: string | undefined;
  for (;;) {
    const page = pageSchema.parse(
      await call('/matches', { order: 'oldest', limit: 100, ...(cursor !== undefined && { cursor }) }),
    );
    cursor = page.next_cursor;
    if (page.matches.length === 0) return cursor;
  }
}

function sentAt(text: string): number {
  return Number(/ ?at (\d{13}) /.exec(text)?.[1]);
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function describeLatencies(sorted: readonly number[]): string {
  return `p50 ${percentile(sorted, 0.5)} ms, p99 ${percentile(sorted, 0.99)} ms, worst ${sorted.at(-1)} ms`;
}
