/** At most `max` pieces of work at the same time; the others wait for their turn in the order in which they came. */
export type Gate = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function createGate(max: number): Gate {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running < max) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // Whoever is next takes over this place, so that nobody who comes just now gets in between.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
