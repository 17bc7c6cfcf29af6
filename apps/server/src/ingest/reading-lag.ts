/**
 * How far the reader is behind its socket. If the event log stalls, unread posts fill the socket buffers and are lost
 * when the connection is reset. Only a reader that has to wait for data has read everything.
 */
export type ReadingLag = ReturnType<typeof createReadingLag>;

/** Data that is already in the socket is read faster than this. */
const waitMinMs = 2;

export function createReadingLag(nowMs: () => number) {
  let waitsSince: number | null = nowMs();
  let caughtUpAt = nowMs();
  const update = () => {
    const now = nowMs();
    if (waitsSince !== null && now - waitsSince >= waitMinMs) caughtUpAt = now;
    return now;
  };
  return {
    /** The reader has processed its data and waits for more. */
    waits(): void {
      waitsSince = nowMs();
    },
    /** Data arrived, or the stream ended. */
    arrived(): void {
      update();
      waitsSince = null;
    },
    /** Time for which data may have been unread. */
    behindMs: () => update() - caughtUpAt,
  };
}
