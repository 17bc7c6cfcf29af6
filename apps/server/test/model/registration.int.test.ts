import type { Template } from '@earshot/testkit';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMigratedTemplate } from '../support.ts';
import { type Command, type FaultOrder, type History, history } from './commands.ts';
import { type ModelWorld, openModelWorld } from './model-world.ts';
import { runHistory } from './run-history.ts';

/** Set by `pnpm test:model --histories N --seed S --only I`, which uses another seed each time; CI uses a fixed one. */
const histories = Number(process.env['MODEL_HISTORIES'] ?? 30);
const seed = Number(process.env['MODEL_SEED'] ?? 725_399_410);
const only = process.env['MODEL_ONLY'];
/** A history mostly waits. */
const lanes = 4;

const create = (word: string): Command => ({ kind: 'create', platforms: ['x'], word });
const fault = (order: FaultOrder): Command => ({ kind: 'fault', fault: order, platform: 'x', count: 1 });

/** What histories must contain to be meaningful, and the shortest history that contains it for sure. */
const mustHappen: Readonly<Record<string, readonly Command[]>> = {
  acknowledged: [create('ash')],
  updated: [create('ash'), { kind: 'update', which: 0, word: 'birch' }],
  moved: [create('ash'), create('birch'), { kind: 'drain', source: 0 }],
  frozen: [{ kind: 'freeze', platform: 'x', word: 'ash', undo: true }],
  taken_away: [
    create('ash'),
    { kind: 'delete_by_hand', source: 0, which: 0 },
    { kind: 'delete_by_hand', source: 1, which: 0 },
  ],
  rules_status: [fault({ kind: 'rules_status', status: 503, method: 'POST' }), create('ash')],
  rules_lost_answer: [fault({ kind: 'rules_lost_answer' }), create('ash')],
};

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

test.each(Object.entries(mustHappen))(
  'a history contains %s, and all sides agree after it',
  async (kind, commands) => {
    const [world] = worlds;
    for (const regular of [true, false])
      expect(world && (await runHistory(world, { regular, commands }, 60_000))).toContain(kind);
  },
);

test(
  `rules, slots and upstream rules agree after ${histories} random histories (seed ${seed})`,
  async () => {
    const happened = new Map<string, number>();
    const startedAt = performance.now();
    const all = fc.sample(history, { numRuns: histories, seed }).entries();
    const chosen = all.filter(([index]) => only === undefined || index === Number(only));
    // Histories run in real time, so that a smaller one would behave differently: failures are not shrunk.
    let failed = false;
    let played = 0;
    const lane = async (world: ModelWorld) => {
      for (const [index, one] of chosen) {
        if (failed) return;
        played++;
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
      `${histories} histories in ${seconds} s, seed ${seed}; histories that contain it: ${JSON.stringify([...happened])}\n`,
    );
    expect(played).toBe(only === undefined ? histories : 1);
    // A short run may miss some; the test above ensures that they happen.
    const isLong = only === undefined && histories >= 200;
    if (isLong) expect([...happened.keys()]).toEqual(expect.arrayContaining(Object.keys(mustHappen)));
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
