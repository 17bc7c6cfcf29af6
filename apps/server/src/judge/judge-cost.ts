import type { JudgeRequest, JudgeTokens } from './judge-request.ts';

/** US dollars per million tokens. */
export interface JudgePrices {
  readonly input: number;
  readonly output: number;
}

/** What a call used, or may have used. */
export interface JudgeUse {
  readonly tokens: JudgeTokens | null;
  /** False if the endpoint cannot have billed the call. */
  readonly mayBeBilled: boolean;
}

export function costUsd({ input, output }: JudgeTokens, prices: JudgePrices): number {
  return (input * prices.input + output * prices.output) / 1_000_000;
}

/**
 * The most that a call can cost, to reserve before it. No text has more tokens than bytes; the JSON around the messages is
 * longer than what chat templates add.
 */
export function reservedUsd(request: JudgeRequest, prices: JudgePrices): number {
  const input = Buffer.byteLength(JSON.stringify(request));
  return costUsd({ input, output: request.max_tokens }, prices);
}

/** What remains of a reservation after its call. If the use is unknown, such as after a timeout, the whole reservation. */
export function settledUsd(reserved: number, { tokens, mayBeBilled }: JudgeUse, prices: JudgePrices): number {
  if (tokens !== null) return costUsd(tokens, prices);
  return mayBeBilled ? reserved : 0;
}
