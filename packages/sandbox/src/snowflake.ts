const xEpochMs = 1_288_834_974_657n;
const counterMask = 0x3f_ffffn;

export type NextSnowflake = (atMs: number) => string;

/** Ids as X makes them: milliseconds above, 22 bits below. The counter keeps ids of one millisecond apart. */
export function createSnowflakes(): NextSnowflake {
  let counter = 0n;
  return (atMs) => {
    counter = (counter + 1n) & counterMask;
    return (((BigInt(Math.trunc(atMs)) - xEpochMs) << 22n) | counter).toString();
  };
}
