/** One matched page in the replay buffer of a tap. */
export interface LoggedEvent {
  readonly offset: number;
  matchedAtMs: number;
  readonly queryIds: string[];
  /** The `data:` line, ready to send. */
  readonly data: string;
  readonly chargeKey: string;
}

/**
 * The replay buffer of a tap: events in the order of their offsets, kept for the retention period. Offsets
 * only grow, and may jump.
 */
export interface EventLog {
  append(event: Omit<LoggedEvent, 'offset'>): LoggedEvent;
  /** The first retained event at this offset or after it. */
  firstFrom(offset: number): LoggedEvent | undefined;
  /** Where an event that matched at this moment or later would be. */
  offsetAt(matchedAtMs: number): number;
  /** Makes everything that is in it so much older. */
  age(byMs: number): void;
  nextOffset(): number;
  size(): number;
}

/** Bounds the memory of a sandbox that runs for days under a busy feed. */
const eventsMax = 200_000;

interface EventLogOptions {
  readonly firstOffset: number;
  /** Distance from one offset to the next. */
  readonly nextStep: () => number;
  readonly retentionMs: number;
  readonly nowMs: () => number;
}

export function createEventLog({ firstOffset, nextStep, retentionMs, nowMs }: EventLogOptions): EventLog {
  const events: LoggedEvent[] = [];
  let nextOffset = firstOffset;

  const dropExpired = () => {
    const oldestMs = nowMs() - retentionMs;
    const alive = lowerBound(events, (event) => event.matchedAtMs >= oldestMs);
    events.splice(0, Math.max(alive, events.length - eventsMax));
  };

  return {
    append(event) {
      // A splice per event would be slow on a full log; readers drop the rest.
      if (events.length > eventsMax * 1.1) dropExpired();
      const logged = { offset: nextOffset, ...event };
      nextOffset += nextStep();
      events.push(logged);
      return logged;
    },
    firstFrom(offset) {
      const oldest = events[0];
      if (oldest !== undefined && oldest.matchedAtMs < nowMs() - retentionMs) dropExpired();
      return events[lowerBound(events, (event) => event.offset >= offset)];
    },
    offsetAt: (matchedAtMs) =>
      events[lowerBound(events, (event) => event.matchedAtMs >= matchedAtMs)]?.offset ?? nextOffset,
    age(byMs) {
      for (const event of events) event.matchedAtMs -= byMs;
    },
    nextOffset: () => nextOffset,
    size: () => {
      dropExpired();
      return events.length;
    },
  };
}

/** A tap has one partition, as far as anyone has seen. */
export function toEventId(offset: number): string {
  return `0-${offset}`;
}

/** Index of the first item for which the test holds; the test must stay true from there on. */
function lowerBound<T>(items: readonly T[], test: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && test(item)) high = middle;
    else low = middle + 1;
  }
  return low;
}
