/** A whole in millionths, so that the parts of a resource add up exactly in whole numbers. */
export const whole = 1_000_000;

/** Parts of a whole, as equal as whole numbers can be: the first ones are larger by one millionth. */
export function partsOf(count: number): number[] {
  const part = Math.floor(whole / count);
  const larger = whole - part * count;
  return Array.from({ length: count }, (_, index) => (index < larger ? part + 1 : part));
}
