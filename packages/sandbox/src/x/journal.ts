/**
 * What happened to a post that matched a rule of an app, so that a test can compute what its client must have seen.
 * X has no replay: a post that falls into a gap is lost.
 */
export interface JournalEntry {
  readonly seq: number;
  readonly id: string;
  readonly text: string;
  readonly author: string;
  readonly createdAt: string;
  readonly ruleIds: string[];
  readonly delivered: boolean;
}

export type Journal = ReturnType<typeof createJournal>;

/** A day of a busy feed; the oldest entries are dropped first. */
const entriesMax = 500_000;

export function createJournal() {
  const entries: JournalEntry[] = [];
  const undelivered = new Set<string>();
  const unconfirmed = new Set<string>();
  let lastSeq = 0;
  let delivered = 0;
  return {
    record(entry: Omit<JournalEntry, 'seq'>): void {
      lastSeq += 1;
      entries.push({ seq: lastSeq, ...entry });
      if (entry.delivered) delivered += 1;
      else undelivered.add(entry.id);
      if (entries.length > entriesMax * 1.1) {
        for (const { id } of entries.splice(0, entries.length - entriesMax)) {
          undelivered.delete(id);
          unconfirmed.delete(id);
        }
      }
    },
    /** Posts written to a connection that closed before the client had certainly read them. */
    addUnconfirmed(ids: readonly string[]): void {
      for (const id of ids) unconfirmed.add(id);
    },
    after(seq: number, limit: number): JournalEntry[] {
      const firstSeq = entries[0]?.seq ?? 1;
      const start = Math.max(0, seq + 1 - firstSeq);
      return entries.slice(start, start + limit);
    },
    counts: () => ({ matched: lastSeq, delivered }),
    undelivered: () => [...undelivered],
    unconfirmed: () => [...unconfirmed],
  };
}
