/**
 * How far the reader is behind its socket. While it is held up, by an event log that does not answer, posts pile up in
 * the buffers of the socket, and a connection that is reset takes them along: nobody ever read them. Only a reader
 * that has to wait for more has read everything.
 */
export type ReadingLag = ReturnType<typeof createReadingLag>;

/** What lies in the socket already is read sooner than this. */
const waitMinMs = 2;

export function createReadingLag(nowMs: () => number) {
  let waitsSince: number | null = nowMs();
  let caughtUpAt = nowMs();
  const look = () => {
    const now = nowMs();
    if (waitsSince !== null && now - waitsSince >= waitMinMs) caughtUpAt = now;
    return now;
  };
  return {
    /** The reader is done with what it had, and waits for more. */
    waits(): void {
      waitsSince = nowMs();
    },
    /** Something came, or the end. */
    came(): void {
      look();
      waitsSince = null;
    },
    /** Since when something may lie unread, as far back as that. */
    behindMs: () => look() - caughtUpAt,
  };
}
