export type Random = ReturnType<typeof createRandom>;

/** Random numbers from a seed (mulberry32), so that a run can be repeated. Not for secrets. */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  /** In [0, 1). */
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  /** A whole number in [min, max]. */
  const integer = (min: number, max: number) => min + Math.floor(fraction() * (max - min + 1));
  return {
    fraction,
    integer,
    chance: (probability: number) => fraction() < probability,
    pick: <T>(choices: readonly [T, ...T[]]): T => choices[integer(0, choices.length - 1)] ?? choices[0],
  };
}
