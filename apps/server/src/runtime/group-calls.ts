import { Failure } from './failure.ts';

interface Call<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs calls that arrive together as one group: one statement and one commit for all of them. While a group runs, the next one collects.
 * `run` returns the results in the order of the items. If a group fails, each of its items runs alone, so that an item that cannot
 * succeed fails only its own call. So items must be independent, and safe to run again. An outage fails all of them at once.
 */
export function groupCalls<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  { max }: { readonly max: number },
): (item: Item) => Promise<Result> {
  const waiting: Call<Item, Result>[] = [];
  let isRunning = false;

  const runGroup = async (calls: readonly Call<Item, Result>[]): Promise<void> => {
    let results: readonly Result[];
    try {
      results = await run(calls.map(({ item }) => item));
    } catch (error) {
      const isAboutItems = !(error instanceof Failure && error.code === 'unavailable');
      if (calls.length > 1 && isAboutItems) for (const call of calls) await runGroup([call]);
      else for (const { reject } of calls) reject(error);
      return;
    }
    for (const [nth, { resolve, reject }] of calls.entries()) {
      const result = results[nth];
      if (result === undefined) reject(new Error('the group returned no result'));
      else resolve(result);
    }
  };

  const runAll = async (): Promise<void> => {
    while (waiting.length > 0) await runGroup(waiting.splice(0, max));
    isRunning = false;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (isRunning) return;
      isRunning = true;
      // Calls of the same turn of the event loop join.
      setImmediate(() => void runAll());
    });
}
