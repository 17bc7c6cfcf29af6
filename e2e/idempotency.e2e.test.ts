import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, Api } from './src/api.ts';
import { type Account, type ServerUnderTest, startWorld, type World, xToken } from './src/world.ts';

const rule = (value: string) => ({
  name: value,
  intent: 'to see what happens',
  platforms: ['x'],
  overrides: { x: value },
});

/** As a careful program does: the same request again for as long as the first one runs. */
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

describe('an Idempotency-Key', () => {
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

  test('makes one rule of a hundred parallel requests on two nodes, and all get the same answer', async () => {
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

  test('belongs to one request, of one account, to one operation', async () => {
    const first = await create(api, 'mine', 'storm');
    const other = await create(api, 'mine', 'thunder');
    expect(other.status).toBe(400);
    expect(other.json).toMatchObject({
      code: 'invalid_argument',
      details: { violations: [{ field: 'Idempotency-Key', code: 'invalid_value' }] },
    });
    const theirs = await create(createOn(0, await world.newAccount()), 'mine', 'thunder');
    expect(theirs.status).toBe(200);
    const { rule_id } = first.json as { rule_id: string };
    const headers = { 'idempotency-key': 'mine' };
    const deleted = await api.call('POST', '/api.DeleteRule', { rule_id }, headers);
    expect(deleted.status).toBe(200);
    // The rule is gone; the answer is not. Without the key it is a second delete.
    const again = await createOn(1).call('POST', '/api.DeleteRule', { rule_id }, headers);
    expect(again.text).toBe(deleted.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await api.call('POST', '/api.DeleteRule', { rule_id })).status).toBe(404);
    expect((await create(api, 'mine', 'storm')).text).toBe(first.text);
  });

  test('is free again after a failure, because a failure did nothing', async () => {
    await world.sandbox.arm({ kind: 'rule_refused', platform: 'x', count: 1 });
    const refused = await create(api, 'twice', 'cyclone');
    expect(refused.status).toBe(400);
    expect((await world.sandbox.fired()).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    await world.sandbox.clearFaults();
    const made = await create(api, 'twice', 'cyclone');
    expect([made.status, made.headers.get('idempotent-replayed')]).toEqual([200, null]);
  });
});

/** As if a minute had passed: until then the key of a process that died answers `aborted`. */
async function letClaimsRunOut(world: World): Promise<void> {
  const client = new Client({ connectionString: world.databaseUrl });
  await client.connect();
  try {
    const sql = `update idempotency_keys set lease_until = now() - interval '1 s' where answer is null`;
    expect((await client.query(sql)).rowCount).toBe(1);
  } finally {
    await client.end();
  }
}

describe('after a crash', () => {
  test.concurrent('that followed the creation, the retry gets its answer and no second rule', async () => {
    await using world = await startWorld();
    const account = await world.newAccount();
    const doomed = await world.startServer({ EARSHOT_TEST: 'crashAt=create.activated' });
    await expect(create(doomed.api(account), 'k', 'gust')).rejects.toThrow('fetch failed');
    await doomed.exited;
    const api = (await world.startServer()).api(account);
    const answer = await create(api, 'k', 'gust');
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    const { rules } = await api.listRules();
    expect(rules.map(({ id }) => id)).toEqual([(answer.json as { rule_id: string }).rule_id]);
    const { rule_id } = answer.json as { rule_id: string };

    const dying = await world.startServer({ EARSHOT_TEST: 'crashAt=delete.written' });
    const headers = { 'idempotency-key': 'd' };
    await expect(dying.api(account).call('POST', '/api.DeleteRule', { rule_id }, headers)).rejects.toThrow(
      'fetch failed',
    );
    await dying.exited;
    const deleted = await api.call('POST', '/api.DeleteRule', { rule_id }, headers);
    expect([deleted.status, deleted.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect((await api.listRules()).rules).toEqual([]);
  });

  test.concurrent('that prevented the creation, the retry creates once the claim has run out', async () => {
    await using world = await startWorld();
    const account = await world.newAccount();
    const doomed = await world.startServer({ EARSHOT_TEST: 'crashAt=create.registered' });
    await expect(create(doomed.api(account), 'k', 'gust')).rejects.toThrow('fetch failed');
    await doomed.exited;
    const api = (await world.startServer()).api(account);
    const tooSoon = await create(api, 'k', 'gust');
    expect([tooSoon.status, tooSoon.json]).toMatchObject([409, { code: 'aborted' }]);
    expect((await api.listRules()).rules).toEqual([]);
    await letClaimsRunOut(world);
    const made = await create(api, 'k', 'gust');
    expect([made.status, made.headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect((await create(api, 'k', 'gust')).text).toBe(made.text);
    expect((await api.listRules()).rules).toHaveLength(1);
  });
});
