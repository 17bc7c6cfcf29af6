import type { FirehoseKnobs } from './knobs.ts';
import type { ReplayBuffer } from './replay-buffer.ts';

interface RequestedStart {
  readonly lastEventId: string | undefined;
  readonly offset: string | undefined;
  readonly since: string | undefined;
  readonly nowMs: number;
  readonly knobs: Pick<FirehoseKnobs, 'cursors' | 'longSince'>;
}

const msByUnit: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000 };
const sinceMsMax = 24 * 3_600_000;

/**
 * The offset at which a stream starts, or the name of the invalid parameter. Last-Event-ID precedes `offset`, which
 * precedes `since`; without any, the stream starts at the end of the buffer. A malformed id is ignored
 * (firehose.md §6.1), unless a knob says otherwise. `since` is real time at any speed, because clients compute it from
 * their own clock.
 */
export function findStart(
  buffer: ReplayBuffer,
  { lastEventId, offset, since, nowMs, knobs }: RequestedStart,
): number | 'offset' | 'since' | 'Last-Event-ID' {
  const resumed = /^[0-9]+-([0-9]+)$/.exec(lastEventId ?? '')?.[1];
  const [, count, unit] = /^([1-9][0-9]*)([smh])$/.exec(since ?? '') ?? [];
  const requestedMs = Number(count) * (msByUnit[unit ?? ''] ?? Number.NaN);
  const spanMs = knobs.longSince === 'shortened' ? Math.min(requestedMs, sinceMsMax) : requestedMs;
  if (offset !== undefined && !/^[0-9]{1,15}$/.test(offset)) return 'offset';
  if (since !== undefined && !(spanMs <= sinceMsMax)) return 'since';

  if (lastEventId !== undefined && knobs.cursors === 'strict') {
    if (resumed === undefined || Number(resumed) < buffer.firstOffset()) return 'Last-Event-ID';
  }
  if (resumed !== undefined) return Number(resumed) + 1;
  if (offset !== undefined) return Number(offset);
  return since === undefined ? buffer.nextOffset() : buffer.offsetAt(nowMs - spanMs);
}
