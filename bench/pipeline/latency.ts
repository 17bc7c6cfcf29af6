import { z } from 'zod';
import type { System } from './system.ts';

const pageSchema = z.object({
  next_cursor: z.string(),
  matches: z.array(z.object({ payload: z.object({ text: z.string() }) })),
});

/**
 * Follows the matches by long poll until `items` newer than the cursor are seen, and returns for each of them the
 * milliseconds from the moment before it was put into the sandbox to the moment it was in the caller's hands.
 */
export async function followLatencies(
  { call }: System,
  cursor: string,
  items: () => number,
): Promise<number[]> {
  const latencies: number[] = [];
  for (let at = cursor; latencies.length < items(); ) {
    const page = pageSchema.parse(
      await call('/matches', { order: 'oldest', limit: 100, cursor: at, wait_seconds: 5 }),
    );
    const now = Date.now();
    for (const { payload } of page.matches) latencies.push(now - sentAt(payload.text));
    at = page.next_cursor;
  }
  return latencies.toSorted((a, b) => a - b);
}

/** The position behind everything that is stored by now. */
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
