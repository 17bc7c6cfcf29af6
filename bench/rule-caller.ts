import { createCaller } from './caller.ts';

export interface RuleCaller extends Disposable {
  /** Creates a rule on `x`, and retries while the server is unavailable. */
  create(key: string, value: string): Promise<void>;
  /** The number of retries. */
  retries(): number;
}

export function createRuleCaller(url: string, connections: number): RuleCaller {
  const caller = createCaller(url, connections);
  let retries = 0;
  return {
    async create(key, value) {
      for (;;) {
        const { status, text } = await caller.post(key, '/api.CreateRule', ruleOn(value));
        if (status === 200) return;
        if (status !== 503 && status !== 504) throw new Error(`${status}: ${text}`);
        retries++;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    },
    retries: () => retries,
    [Symbol.dispose]: () => caller[Symbol.dispose](),
  };
}

/** The body of a CreateRule on `x`. */
export function ruleOn(value: string): string {
  return JSON.stringify({ name: 'bench', intent: 'to measure', platforms: ['x'], overrides: { x: value } });
}
