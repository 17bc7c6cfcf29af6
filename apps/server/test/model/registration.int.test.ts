import type { Template } from '@earshot/testkit';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMigratedTemplate } from '../support.ts';
import { history } from './commands.ts';
import { type ModelWorld, openModelWorld } from './model-world.ts';
import { runHistory } from './run-history.ts';

/** `pnpm test:model --histories N --seed S` sets both. */
const histories = Number(process.env['MODEL_HISTORIES'] ?? 30);
const seed = Number(process.env['MODEL_SEED'] ?? Date.now() % 1_000_000_000);

let template: Template;
let world: ModelWorld;
beforeAll(async () => {
  template = await createMigratedTemplate();
  world = await openModelWorld(template);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await template?.[Symbol.asyncDispose]();
});

test(
  `rules, slots and upstream rules agree after ${histories} random histories (seed ${seed})`,
  async () => {
    const fired = new Map<string, number>();
    const startedAt = performance.now();
    await fc.assert(
      fc.asyncProperty(history, async (commands) => {
        for (const kind of await runHistory(world, commands)) fired.set(kind, (fired.get(kind) ?? 0) + 1);
      }),
      // Each history runs against real time: a smaller one would be another one.
      { numRuns: histories, seed, endOnFailure: true },
    );
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
    process.stdout.write(
      `${histories} histories in ${seconds} s, seed ${seed}; histories in which a fault fired: ${JSON.stringify([...fired])}\n`,
    );
    expect([...fired.keys()]).toContain('rules_status');
  },
  histories * 5_000,
);
