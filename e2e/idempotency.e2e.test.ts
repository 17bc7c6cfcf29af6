import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, Api } from './src/api.ts';
import { type Account, type ServerUnderTest, startWorld, type World, xToken } from './src/world.ts';

const rule = (value: string) => ({
  name: value,
  intent: 'to see what happens',
  platforms: ['x'],
  overrides: { x: value },
});

/** As a careful program does: repeats the request while the first one runs. */
async function untilAnswered(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 409) return answer;
    expect(answer.json).toMatchObject({ code: 'aborted' });
    expect(answer.headers.get('retry-after')).toBe('1');
    await sleep(50);
  }
}

const create = (api: Api, key: string, value: string) =>
  api.call('POST', '/api.CreateRule', rule(value), { 'idempotency-key': key });

let world: World;
let nodes: ServerUnderTest[];
let account: Account;
let api: Api;

beforeAll(async () => {
  world = await startWorld();
  nodes = [await world.startServer(), await world.startServer()];
  account = await world.newAccount();
  api = createOn(0);
});
afterAll(() => world?.[Symbol.asyncDispose]());

function createOn(n: number, who = account): Api {
  const node = nodes[n % nodes.length];
  if (!node) throw new Error('no node');
  return node.api(who);
}

test('an Idempotency-Key makes one rule of a hundred parallel requests on two nodes, and all get the same answer', async () => {
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => untilAnswered(() => create(createOn(n), 'hundred', 'gale'))),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  const replayed = answers.map(({ headers }) => headers.get('idempotent-replayed'));
  expect(replayed.filter((value) => value === null)).toHaveLength(1);
  expect(replayed.filter((value) => value === 'true')).toHaveLength(99);
  expect((await api.listRules()).rules.filter(({ name }) => name === 'gale')).toHaveLength(1);
  const upstream = (await world.sandbox.xState(xToken)).rules.filter(({ value }) => value === 'gale');
  expect(upstream).toHaveLength(1);
});

/** Moves times back by a minute: until then the key of a crashed process answers `aborted`. */
async function expireClaims(): Promise<void> {
  const sql = `update idempotency_keys set lease_until = now() - interval '1 s' where answer is null`;
  expect((await world.database.query(sql)).rowCount).toBe(1);
}

describe('after a crash', () => {
  test('after a crash that followed the creation, the retry gets its answer and creates no second rule', async () => {
    const gusty = await world.newAccount();
    const doomed = await world.startServer({ EARSHOT_TEST: 'crashAt=create.activated' });
    await expect(create(doomed.api(gusty), 'k', 'gust')).rejects.toThrow('fetch failed');
    await doomed.exited;
    const api = createOn(0, gusty);
    const answer = await create(api, 'k', 'gust');
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    const { rules } = await api.listRules();
    expect(rules.map(({ id }) => id)).toEqual([(answer.json as { rule_id: string }).rule_id]);
    const { rule_id } = answer.json as { rule_id: string };

    const dying = await world.startServer({ EARSHOT_TEST: 'crashAt=delete.written' });
    const headers = { 'idempotency-key': 'd' };
    await expect(dying.api(gusty).call('POST', '/api.DeleteRule', { rule_id }, headers)).rejects.toThrow(
      'fetch failed',
    );
    await dying.exited;
    const deleted = await api.call('POST', '/api.DeleteRule', { rule_id }, headers);
    expect([deleted.status, deleted.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect((await api.listRules()).rules).toEqual([]);
  });

  test('after a crash that prevented the creation, the retry creates the rule once the claim has expired', async () => {
    const gusty = await world.newAccount();
    const doomed = await world.startServer({ EARSHOT_TEST: 'crashAt=create.registered' });
    await expect(create(doomed.api(gusty), 'k', 'gust')).rejects.toThrow('fetch failed');
    await doomed.exited;
    const api = createOn(0, gusty);
    const tooSoon = await create(api, 'k', 'gust');
    expect([tooSoon.status, tooSoon.json]).toMatchObject([409, { code: 'aborted' }]);
    expect((await api.listRules()).rules).toEqual([]);
    await expireClaims();
    const made = await create(api, 'k', 'gust');
    expect([made.status, made.headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect((await create(api, 'k', 'gust')).text).toBe(made.text);
    expect((await api.listRules()).rules).toHaveLength(1);
  });
});
