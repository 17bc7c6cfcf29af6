import { lowerBound } from '../lower-bound.ts';

/** One matched page in the replay buffer of a tap. */
export interface BufferedEvent {
  readonly offset: number;
  matchedAtMs: number;
  /** The `data:` line, ready to send. */
  readonly data: string;
  readonly chargeKey: string;
}

export type ReplayBuffer = ReturnType<typeof createReplayBuffer>;

/** Bounds the memory of a sandbox that runs for days with a busy feed. */
const eventsMax = 200_000;

interface ReplayBufferOptions {
  readonly firstOffset: number;
  /** The distance from one offset to the next. */
  readonly nextStep: () => number;
  readonly retentionMs: number;
  readonly nowMs: () => number;
}

/** Events in the order of their offsets, kept for the retention period. Offsets only grow, and may have gaps. */
export function createReplayBuffer({ firstOffset, nextStep, retentionMs, nowMs }: ReplayBufferOptions) {
  const events: BufferedEvent[] = [];
  let nextOffset = firstOffset;

  const dropExpired = () => {
    const oldestMs = nowMs() - retentionMs;
    const alive = lowerBound(events, (event) => event.matchedAtMs >= oldestMs);
    events.splice(0, Math.max(alive, events.length - eventsMax));
  };

  return {
    append(event: Omit<BufferedEvent, 'offset'>): BufferedEvent {
      // Trims only now and then: a splice per event would be slow on a full buffer.
      if (events.length > eventsMax * 1.1) dropExpired();
      const buffered = { offset: nextOffset, ...event };
      nextOffset += nextStep();
      events.push(buffered);
      return buffered;
    },
    /** The first retained event at this offset or after it. */
    firstFrom(offset: number): BufferedEvent | undefined {
      const oldest = events[0];
      if (oldest !== undefined && oldest.matchedAtMs < nowMs() - retentionMs) dropExpired();
      return events[lowerBound(events, (event) => event.offset >= offset)];
    },
    /** The offset of the first event that matched at this time or later. */
    offsetAt: (matchedAtMs: number) =>
      events[lowerBound(events, (event) => event.matchedAtMs >= matchedAtMs)]?.offset ?? nextOffset,
    /** Makes every buffered event older by this much. */
    age(byMs: number): void {
      for (const event of events) event.matchedAtMs -= byMs;
    },
    /** Of the oldest event that is kept. */
    firstOffset: () => events[0]?.offset ?? nextOffset,
    nextOffset: () => nextOffset,
    size: () => {
      dropExpired();
      return events.length;
    },
  };
}

/** `<partition>-<offset>`; only partition 0 has been observed. */
export function toEventId(offset: number): string {
  return `0-${offset}`;
}
