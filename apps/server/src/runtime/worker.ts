/**
 * A worker is a name and a blocking `run`. It returns only when the signal is aborted; returning or throwing
 * earlier is a failure, which the supervisor reports and answers with a restart.
 */
export interface Worker {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Periodic work: runs `step` at once, and again `everyMs` after the previous one has ended. A step that returns `true` has left work
 * behind, and the next one follows at once.
 */
export function every(
  name: string,
  everyMs: number,
  step: (signal: AbortSignal) => Promise<boolean | void>,
): Worker {
  return {
    name,
    async run(signal) {
      while (!signal.aborted) if ((await step(signal)) !== true) await pause(everyMs, signal);
    },
  };
}

/** After this long, an unfinished step counts as stuck, for example on a dead connection. */
const stuckAfterMsDefault = 60_000;

/**
 * Periodic work beside a loop, until it is disposed. Steps do not overlap: none begins while one is unfinished. Only a stuck step does not
 * hold up the next one, so its late write must change nothing. A failed step is left to the next one.
 */
export function repeat(
  everyMs: number,
  step: () => Promise<unknown> | void,
  { stuckAfterMs = stuckAfterMsDefault }: { readonly stuckAfterMs?: number } = {},
): Disposable {
  let current: { readonly since: number } | null = null;
  const timer = setInterval(() => {
    const now = performance.now();
    if (current !== null && now - current.since < stuckAfterMs) return;
    const run = { since: now };
    current = run;
    const end = () => {
      if (current === run) current = null;
    };
    const unfinished = step();
    if (unfinished === undefined) end();
    else unfinished.then(end, end);
  }, everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Resolves after `ms`, or as soon as the signal is aborted; never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
