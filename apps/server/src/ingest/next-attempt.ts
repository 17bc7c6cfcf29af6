import type { Platform } from '@earshot/contract';
import type { StreamEnding } from './upstream-stream.ts';

export interface Attempts {
  /** Failures of the same kind in a row, this one included. */
  readonly inARow: number;
  readonly random: () => number;
}

/** When to connect again; `wakes` tells whether a newly registered rule cuts the wait short. */
export interface NextAttempt {
  readonly delayMs: number;
  readonly wakes: boolean;
}

/**
 * The official back-off numbers (x.md §5.2, firehose.md §6.4) with jitter. An established connection that
 * dropped is reopened at once, then by the class of what follows.
 */
export function nextAttempt(platform: Platform, ending: StreamEnding, attempts: Attempts): NextAttempt {
  const { inARow, random } = attempts;
  const jittered = (ms: number) => Math.round(ms * (0.5 + random() / 2));
  const doubled = (firstMs: number, maxMs: number) =>
    jittered(Math.min(maxMs, firstMs * 2 ** Math.min(20, inARow - 1)));
  const wait = (delayMs: number, wakes = false) => ({ delayMs, wakes });
  switch (ending.kind) {
    case 'dropped':
    case 'stalled':
      if (platform === 'x') return wait(inARow === 1 ? 0 : jittered(Math.min(16_000, 250 * inARow)));
      return wait(inARow === 1 ? jittered(400) : doubled(1_000, 60_000));
    case 'finished':
      return wait(200 + Math.round(random() * 800));
    case 'unreachable':
      if (platform === 'x') return wait(jittered(Math.min(16_000, 250 * inARow)));
      return wait(doubled(1_000, 60_000));
    case 'failing':
      return wait(platform === 'x' ? doubled(5_000, 320_000) : doubled(1_000, 60_000));
    case 'rate_limited':
      return wait(Math.max(ending.retryAfterMs ?? 0, doubled(60_000, 900_000)));
    case 'slot_busy':
      return wait(doubled(5_000, 60_000));
    case 'provisioning':
      return wait(60_000);
    case 'no_rules':
      return wait(30_000, true);
    case 'refused':
      return wait(ending.reason === 'credit' ? 900_000 : 300_000);
    case 'log_unavailable':
      return wait(doubled(1_000, 30_000));
    case 'stopped':
      return wait(0);
  }
}
