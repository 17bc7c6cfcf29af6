import { Failure } from './failure.ts';

interface JoinOptions {
  /** The most calls that run together. */
  readonly max?: number;
  /**
   * If several calls fail together, each of them runs alone, so that one that cannot succeed fails only itself. So calls must be safe to
   * run again. An outage fails all of them at once.
   */
  readonly retriesAlone?: boolean;
}

interface Waiting<Input, Answer> {
  readonly input: Input;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Combines calls: while one is running, later ones are collected for the next. A caller's answer was always read after its call.
 */
export function joinCalls<Input, Answer>(
  callAll: (input: readonly Input[]) => Promise<Answer[]>,
  { max = Number.POSITIVE_INFINITY, retriesAlone = false }: JoinOptions = {},
): (input: Input) => Promise<Answer> {
  const waiting: Waiting<Input, Answer>[] = [];
  let running = false;

  const runBatch = async (batch: readonly Waiting<Input, Answer>[]): Promise<void> => {
    try {
      const answers = await callAll(batch.map(({ input }) => input));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const answer = answers[index];
        if (answer === undefined) reject(new Error('a joined call got no answer'));
        else resolve(answer);
      }
    } catch (error) {
      const isOutage = error instanceof Failure && error.code === 'unavailable';
      if (retriesAlone && batch.length > 1 && !isOutage) for (const one of batch) await runBatch([one]);
      else for (const { reject } of batch) reject(error);
    }
  };

  const run = async () => {
    while (waiting.length > 0) await runBatch(waiting.splice(0, max));
    running = false;
  };

  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject });
      if (running) return;
      running = true;
      // Callers that are woken by the same ring call within the same turn of the event loop.
      setImmediate(() => void run());
    });
}
