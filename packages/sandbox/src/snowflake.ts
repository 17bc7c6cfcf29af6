const xEpochMs = 1_288_834_974_657n;
const counterMask = 0x3f_ffffn;

export type NextSnowflake = (atMs: number) => string;

/** Ids in the format of X: the milliseconds, then 22 bits, which here are a counter that keeps ids unique. */
export function createSnowflakes(): NextSnowflake {
  let counter = 0n;
  return (atMs) => {
    counter = (counter + 1n) & counterMask;
    return (((BigInt(Math.trunc(atMs)) - xEpochMs) << 22n) | counter).toString();
  };
}
