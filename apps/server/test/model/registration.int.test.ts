import type { Template } from '@earshot/testkit';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMigratedTemplate } from '../support.ts';
import { type History, history } from './commands.ts';
import { type ModelWorld, openModelWorld } from './model-world.ts';
import { runHistory } from './run-history.ts';

/** `pnpm test:model --histories N --seed S --only I` sets them; it takes another seed each time, CI always the same. */
const histories = Number(process.env['MODEL_HISTORIES'] ?? 30);
const seed = Number(process.env['MODEL_SEED'] ?? 725_399_410);
const only = process.env['MODEL_ONLY'];
/** A history mostly waits. */
const lanes = 4;

/** Without these a long run has shown little; a short one may miss some. */
const mustHappen = [
  'acknowledged',
  'updated',
  'moved',
  'frozen',
  'taken_away',
  'rules_status',
  'rules_lost_answer',
];

let template: Template;
let worlds: ModelWorld[] = [];
beforeAll(async () => {
  template = await createMigratedTemplate();
  worlds = await Promise.all(Array.from({ length: lanes }, () => openModelWorld(template)));
});
afterAll(async () => {
  for (const world of worlds) await world[Symbol.asyncDispose]();
  await template?.[Symbol.asyncDispose]();
});

test(
  `rules, slots and upstream rules agree after ${histories} random histories (seed ${seed})`,
  async () => {
    const happened = new Map<string, number>();
    const startedAt = performance.now();
    const all = fc.sample(history, { numRuns: histories, seed }).entries();
    const chosen = all.filter(([index]) => only === undefined || index === Number(only));
    // Each history runs against real time: a smaller one would be another one, so none is made smaller.
    let failed = false;
    const lane = async (world: ModelWorld) => {
      for (const [index, one] of chosen) {
        if (failed) return;
        for (const kind of await play(world, index, one)) happened.set(kind, (happened.get(kind) ?? 0) + 1);
      }
    };
    const results = await Promise.allSettled(
      worlds.map((world) =>
        lane(world).catch((error: unknown) => {
          failed = true;
          throw error;
        }),
      ),
    );
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
    process.stdout.write(
      `${histories} histories in ${seconds} s, seed ${seed}; histories in which it happened: ${JSON.stringify([...happened])}\n`,
    );
    const missing = mustHappen.filter((kind) => !happened.has(kind));
    expect(histories >= 200 && only === undefined ? missing : []).toEqual([]);
  },
  60_000 + histories * 5_000,
);

async function play(world: ModelWorld, index: number, one: History): Promise<string[]> {
  try {
    return await runHistory(world, one);
  } catch (cause) {
    throw new Error(`history ${index} of seed ${seed}: ${String(cause)}\n${JSON.stringify(one)}`, { cause });
  }
}
