import { amount, choice, type Positions } from '../knobs.ts';

/** How the model behaves, and what its calls cost. */
export const judgeKnobs = {
  mode: choice('honest', 'lying', 'obedient', 'malformed', 'schema', 'slow', 'rate_limited', 'dead', 'dying'),
  /** Real time until the answer of `slow`. */
  delayMs: amount(60_000),
  /** Seconds in the `Retry-After` of `rate_limited`. */
  retryAfter: amount(1),
  /** US dollars per million tokens. */
  inputUsd: amount(0.15),
  outputUsd: amount(0.6),
};

export type JudgeKnobs = Positions<typeof judgeKnobs>;
