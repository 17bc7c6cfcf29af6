/**
 * Remembers in which order things began and how far, counted from the start, all of them are done. The
 * position moves only over consecutive completions (I1).
 */
export interface Consecutive {
  begin(id: string): { done(): void };
  /** The last id before which nothing is open; the start value until the first is done. */
  position(): string | null;
}

export function createConsecutive(start: string | null): Consecutive {
  const open: Array<{ id: string; isDone: boolean }> = [];
  let head = 0;
  let position = start;
  return {
    begin(id) {
      const entry = { id, isDone: false };
      open.push(entry);
      return {
        done() {
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
    position: () => position,
  };
}
