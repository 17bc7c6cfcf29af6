/**
 * Tracks entries that begin in order and finish in any order. The position moves only over consecutive completions
 * (I1).
 */
export type Consecutive = ReturnType<typeof createConsecutive>;

export function createConsecutive(start: string | null) {
  const open: Array<{ id: string; isDone: boolean }> = [];
  let head = 0;
  let position = start;
  return {
    begin(id: string) {
      const entry = { id, isDone: false };
      open.push(entry);
      return {
        done(): void {
          entry.isDone = true;
          for (let next = open[head]; next?.isDone; next = open[head]) {
            position = next.id;
            head++;
          }
          if (head > 1_024) {
            open.splice(0, head);
            head = 0;
          }
        },
      };
    },
    /** The last id before which nothing is open; initially the start value. */
    position: () => position,
  };
}
