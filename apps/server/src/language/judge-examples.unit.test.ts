import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as workerThreads from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import { type ExamplesQuestion, judgeInWorker } from './judge-examples.ts';

const threads = vi.hoisted(() => ({ toRefuse: 0 }));
vi.mock('node:worker_threads', async (importOriginal) => {
  const original = await importOriginal<typeof workerThreads>();
  class Worker extends original.Worker {
    constructor(...args: ConstructorParameters<typeof original.Worker>) {
      if (threads.toRefuse-- > 0) throw new Error('no memory for a thread');
      super(...args);
    }
  }
  return { ...original, Worker };
});

function questionOf(value: string, texts: readonly string[]): ExamplesQuestion {
  return {
    overrides: { firehose: value },
    examples: {
      must_match: texts.map((text) => ({ platform: 'firehose', payload: { text } })),
      must_not_match: [],
    },
    invalid: undefined,
  };
}

const expensiveRule = Array.from({ length: 60 }, (_, index) => `added:/.*a.{${40 + index}}c/`).join(' OR ');
/** Irregular, so that each pattern reaches new states. */
const expensiveTexts = Array.from({ length: 20 }, (_, seed) =>
  Array.from({ length: 750 }, (_, index) => (Math.sin(seed + index * index) > 0 ? 'a' : 'b')).join(''),
);

const undecided = expect.objectContaining({
  outcome: 'undecided',
  message: 'Not decided by the example: deciding this would take too long.',
});

test('a thread that cannot be started fails the waiting questions, and no later one', async () => {
  threads.toRefuse = 2;
  const ask = () => judgeInWorker('acc_1', questionOf('added:solar', ['solar']));
  const results = await Promise.allSettled([ask(), ask(), ask()]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
});

test('examples hold or fail as matches are evaluated', async () => {
  const judged = await judgeInWorker('acc_1', questionOf('added:solar', ['solar', 'wind']));
  expect(judged.map(({ outcome }) => outcome)).toEqual(['holds', 'fails']);
});

test('examples that exceed the deadline are undecided, and the next question gets a new thread', async () => {
  const late = await judgeInWorker('acc_1', questionOf(expensiveRule, expensiveTexts), 1);
  expect(late).toEqual(expensiveTexts.map(() => undecided));
  const judged = await judgeInWorker('acc_1', questionOf('added:solar', ['solar']));
  expect(judged.map(({ outcome }) => outcome)).toEqual(['holds']);
});

test('the most expensive examples that a request can contain do not block the event loop', async () => {
  let turns = 0;
  const judging = judgeInWorker('acc_1', questionOf(expensiveRule, expensiveTexts));
  const done = judging.then(() => true);
  while (!(await Promise.race([done, sleep(1, false)]))) turns += 1;
  expect((await judging).map(({ outcome }) => outcome)).toEqual(expensiveTexts.map(() => 'undecided'));
  expect(turns).toBeGreaterThan(5);
});

test('the queue has at most one question of each account', async () => {
  const order: string[] = [];
  const ask = async (accountId: string) => {
    await judgeInWorker(accountId, questionOf('added:solar', ['solar']));
    order.push(accountId);
  };
  await Promise.all([...Array.from({ length: 10 }, () => ask('acc_busy')), ask('acc_other')]);
  expect(order.indexOf('acc_other')).toBeLessThan(3);
});

test('the thread runs with a lower priority', async () => {
  await judgeInWorker('acc_1', questionOf('added:solar', ['solar']));
  const tasks = await readdir('/proc/self/task');
  const stats = await Promise.all(tasks.map((task) => readFile(`/proc/self/task/${task}/stat`, 'utf8')));
  // The 19th field; the name of the thread is the second and may contain spaces.
  const niceness = stats.map((stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]));
  expect(niceness.filter((nice) => nice === 10)).toHaveLength(1);
});
