/**
 * Combines calls: while one is running, later ones are collected for the next. A caller's answer was always read after its call.
 */
export function joinCalls<Input, Answer>(
  callAll: (input: readonly Input[]) => Promise<Answer[]>,
): (input: Input) => Promise<Answer> {
  let waiting: Array<{ input: Input; resolve: (answer: Answer) => void; reject: (error: unknown) => void }> =
    [];
  let running = false;

  const run = async () => {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const answers = await callAll(batch.map(({ input }) => input));
        for (const [index, { resolve, reject }] of batch.entries()) {
          const answer = answers[index];
          if (answer === undefined) reject(new Error('a joined call got no answer'));
          else resolve(answer);
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
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
