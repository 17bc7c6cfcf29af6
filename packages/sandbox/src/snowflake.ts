const X_EPOCH_MS = 1_288_834_974_657n;
const COUNTER_MASK = 0x3f_ffffn;

export type NextSnowflake = (atMs: number) => string;

/** Ids as X makes them: milliseconds above, 22 bits below. The counter keeps ids of one millisecond apart. */
export function createSnowflakes(): NextSnowflake {
  let counter = 0n;
  return (atMs) => {
    counter = (counter + 1n) & COUNTER_MASK;
    return (((BigInt(Math.trunc(atMs)) - X_EPOCH_MS) << 22n) | counter).toString();
  };
}
