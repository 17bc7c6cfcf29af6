import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordChange } from '../src/accounts/change.ts';
import { createClaimStore } from '../src/accounts/idempotency.ts';
import { createKeyStore, newKey } from '../src/accounts/keys.ts';
import { readAudit } from '../src/accounts/list-audit.ts';
import { changeBy } from './changes.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

async function open() {
  await using stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url));
  await database.run(
    `insert into accounts (id, name, plan) values ('acc_1', 'one', 'paid'), ('acc_2', 'two', 'paid')`,
  );
  const opened = stack.move();
  return {
    database,
    claims: createClaimStore(database),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const request = { accountId: 'acc_1', operation: 'CreateRule', fingerprint: Buffer.alloc(32, 1) };
const other = { ...request, fingerprint: Buffer.alloc(32, 2) };
const by = (attempt: string) => ({ key: 'k', attempt });
const record = { targetId: 'rule_1', before: null, after: { name: 'a' }, answer: { rule_id: 'rule_1' } };

test('one of a hundred concurrent attempts is the first', async () => {
  await using world = await open();
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, (_, n) => world.claims.claim(request, by(`try_${n}`))),
  );
  const kinds = outcomes.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'first')).toHaveLength(1);
  expect(kinds.filter((kind) => kind === 'running')).toHaveLength(99);
});

test('the answer exists exactly if the change does', async () => {
  await using world = await open();
  const { database, claims } = world;
  await claims.claim(request, by('try_1'));
  const change = changeBy('acc_1', by('try_1'));
  await expect(
    database.transaction(async (sql) => {
      await recordChange(sql, change, record);
      throw new Error('the change failed after all');
    }),
  ).rejects.toThrow('the change failed after all');
  expect(await claims.claim(request, by('try_2'))).toEqual({ kind: 'running' });
  expect(await database.many('select 1 from audit')).toEqual([]);
  await database.transaction((sql) => recordChange(sql, change, record));
  // Neither a late failure nor a late answer changes what is stored.
  await claims.free(request, by('try_1'));
  await claims.keep(request, by('try_1'), 'other');
  expect(await claims.claim(request, by('try_2'))).toEqual({
    kind: 'answered',
    body: '{"rule_id":"rule_1"}',
  });
  expect(await claims.claim(other, by('try_3'))).toEqual({ kind: 'other_request' });
});

test('a crashed attempt loses its key in time, and cannot take effect later if it was only slow', async () => {
  await using world = await open();
  const { database, claims } = world;
  await claims.claim(request, by('slow'));
  expect(await claims.claim(request, by('next'))).toEqual({ kind: 'running' });
  await database.run(`update idempotency_keys set lease_until = now() - interval '1 ms'`);
  // The first attempt had no effect, so the key may now stand for another request.
  expect(await claims.claim(other, by('next'))).toEqual({ kind: 'first' });
  await claims.free(request, by('slow'));
  const late = database.transaction(async (sql) => {
    await sql.run(`update accounts set name = 'changed' where id = 'acc_1'`);
    await recordChange(sql, changeBy('acc_1', by('slow')), record);
  });
  await expect(late).rejects.toMatchObject({ code: 'aborted' });
  expect(await database.one(`select name from accounts where id = 'acc_1'`)).toEqual({ name: 'one' });
  await database.transaction((sql) => recordChange(sql, changeBy('acc_1', by('next')), record));
  expect(await claims.claim(other, by('third'))).toMatchObject({ kind: 'answered' });
});

test('answers are deleted after 24 hours and not before', async () => {
  await using world = await open();
  const { database, claims } = world;
  const answer = async (attempt: string) => {
    expect(await claims.claim(request, by(attempt))).toEqual({ kind: 'first' });
    await claims.keep(request, by(attempt), '{}');
  };
  const age = (interval: string) =>
    database.run('update idempotency_keys set created_at = now() - $1::interval', [interval]);
  await answer('try_1');
  await age('23 hours 59 minutes');
  expect(await claims.forgetSome()).toBe(0);
  expect(await claims.claim(request, by('try_2'))).toEqual({ kind: 'answered', body: '{}' });
  await age('24 hours 1 minute');
  // Also if the worker has not deleted it yet.
  await answer('try_3');
  await age('24 hours 1 minute');
  expect(await claims.forgetSome()).toBe(1);
  expect(await database.many('select 1 from idempotency_keys')).toEqual([]);
});

test('the audit of an account is deleted with the account, and no other audit with it', async () => {
  await using world = await open();
  const { database } = world;
  for (const account of ['acc_1', 'acc_2'])
    await database.transaction((sql) => recordChange(sql, changeBy(account), record));
  await database.run(`insert into deleted_accounts (account_id) values ('acc_1')`);
  await expect(database.run('delete from audit')).rejects.toThrow('append only');
  await expect(database.run(`update audit set after = null where account_id = 'acc_1'`)).rejects.toThrow(
    'append only',
  );
  expect(await database.run(`delete from audit where account_id = 'acc_1'`)).toBe(1);
  expect(await database.many('select account_id from audit')).toEqual([{ account_id: 'acc_2' }]);
});

test('the audit cannot be changed or emptied', async () => {
  await using world = await open();
  const { database } = world;
  await database.transaction((sql) => recordChange(sql, changeBy('acc_1'), record));
  for (const sql of [`update audit set actor = 'another'`, 'delete from audit', 'truncate audit']) {
    await expect(database.run(sql)).rejects.toThrow('append only');
  }
  expect(await readAudit(database, 'acc_2', { before: null, limit: 10 })).toEqual([]);
  expect(await readAudit(database, 'acc_1', { before: null, limit: 10 })).toMatchObject([
    {
      actor: 'key_1',
      operation: 'CreateRule',
      target_id: 'rule_1',
      after: { name: 'a' },
      request_id: 'req_1',
    },
  ]);
});

test('an account gets exactly as many keys as its plan allows, with concurrent requests', async () => {
  await using world = await open();
  const keys = createKeyStore(world.database);
  const create = (n: number, expiresAt: Date | null = null) =>
    keys.createKey(changeBy('acc_1', null, 'CreateKey'), newKey(), {
      id: `key_${n}`,
      callingKeyId: null,
      scopes: ['rules:read'],
      budget: null,
      expiresAt,
      keysMax: 3,
    });
  await create(100, new Date(Date.now() - 1_000));
  const kinds = (await Promise.all(Array.from({ length: 8 }, (_, n) => create(n)))).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'created')).toHaveLength(3);
  expect(kinds.filter((kind) => kind === 'keys_limit')).toHaveLength(5);
  const listed = await keys.listKeys('acc_1', { before: null, limit: 100 });
  expect(listed).toHaveLength(3);
  // A revoked key makes room; neither it nor an expired key counts.
  await keys.revokeKey(changeBy('acc_1', null, 'RevokeKey'), listed[0]?.id ?? '');
  expect(await create(9)).toMatchObject({ kind: 'created' });
});

test('a revoked or expired key creates no other key, even if its end was not noticed yet', async () => {
  await using world = await open();
  const keys = createKeyStore(world.database);
  const create = (id: string, callingKeyId: string | null, expiresAt: Date | null = null) =>
    keys.createKey(changeBy('acc_1', null, 'CreateKey'), newKey(), {
      id,
      callingKeyId,
      scopes: ['rules:read'],
      budget: null,
      expiresAt,
      keysMax: null,
    });
  await create('key_revoked', null);
  await create('key_expired', null, new Date(Date.now() - 1_000));
  expect(await create('key_2', 'key_revoked')).toMatchObject({ kind: 'created' });
  await keys.revokeKey(changeBy('acc_1', null, 'RevokeKey'), 'key_revoked');
  expect(await create('key_3', 'key_revoked')).toEqual({ kind: 'calling_key_ended' });
  expect(await create('key_4', 'key_expired')).toEqual({ kind: 'calling_key_ended' });
  expect((await keys.listKeys('acc_1', { before: null, limit: 100 })).map(({ id }) => id)).toEqual(['key_2']);
});
