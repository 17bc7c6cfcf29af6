import { lowerBound } from '../lower-bound.ts';

/** A post that was created, updated or deleted, so that a test can compute what its client must have seen. */
export interface JournalEntry {
  readonly seq: number;
  readonly operation: string;
  readonly uri: string;
  /** Null for a deletion. */
  readonly text: string | null;
  readonly time: string;
}

export type PostJournal = ReturnType<typeof createPostJournal>;

/** The oldest entries are dropped first. */
const entriesMax = 500_000;

export function createPostJournal() {
  const entries: JournalEntry[] = [];
  const counts = { create: 0, update: 0, delete: 0 };
  return {
    counts,
    record(entry: JournalEntry, operation: keyof typeof counts): void {
      counts[operation] += 1;
      entries.push(entry);
      if (entries.length > entriesMax * 1.1) entries.splice(0, entries.length - entriesMax);
    },
    after(seq: number, limit: number): JournalEntry[] {
      const start = lowerBound(entries, (entry) => entry.seq > seq);
      return entries.slice(start, start + limit);
    },
  };
}
