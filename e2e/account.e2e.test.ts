import { operations, type Scope } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { shareWorld } from './src/shared-world.ts';
import type { Account, ServerUnderTest, World } from './src/world.ts';

let world: World;
let server: ServerUnderTest;

beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
});
afterAll(() => world?.[Symbol.asyncDispose]());

const sameId = { 'x-request-id': 'same' };

async function createKey(api: Api, request: object = {}) {
  return operations.CreateKey.answer.parse((await api.call('POST', '/api.CreateKey', request)).json);
}

async function listKeys(api: Api) {
  return operations.ListKeys.answer.parse((await api.call('POST', '/api.ListKeys', {})).json).keys;
}

async function listAudit(api: Api, request: object = {}) {
  return operations.ListAudit.answer.parse((await api.call('POST', '/api.ListAudit', request)).json);
}

async function keyWith(account: Account, scopes: Scope[]): Promise<Api> {
  const created = await world.admin.createKey({ accountId: account.accountId, scopes });
  if (!created) throw new Error('the account is gone');
  return server.api({ ...account, ...created });
}

describe('keys', () => {
  test('a new key has the given name and scopes, is listed without its secret, and can be revoked', async () => {
    const account = await world.newAccount();
    const api = server.api(account);
    const expires_at = '2999-01-01T00:00:00.000Z';
    const created = await createKey(api, { name: 'Reports', scopes: ['rules:read'], expires_at });
    expect(created).toMatchObject({ name: 'Reports', scopes: ['rules:read'], expires_at });
    const asNew = server.api({ ...account, key: created.key ?? '' });
    expect((await asNew.call('GET', '/api.ListRules')).status).toBe(200);
    expect((await asNew.call('POST', '/matches', {})).status).toBe(403);

    const { key_id, key, last_used_at: _, ...shown } = created;
    const listed = await listKeys(api);
    expect(listed.map(({ id }) => id)).toEqual([key_id, account.keyId]);
    expect(listed[0]).toMatchObject(shown);
    expect(JSON.stringify(listed)).not.toContain(key);
    await eventually(async () => expect((await listKeys(api))[0]?.last_used_at).not.toBeNull(), {
      timeoutMs: 5_000,
    });

    const revoked = await api.call('POST', '/api.RevokeKey', { key_id });
    expect(operations.RevokeKey.answer.parse(revoked.json).key_id).toBe(key_id);
    expect((await listKeys(api)).map(({ id }) => id)).toEqual([account.keyId]);
    expect((await api.call('POST', '/api.RevokeKey', { key_id })).status).toBe(404);
  });

  test('a key grants only scopes that it has, and all of them by default', async () => {
    const account = await world.newAccount();
    const narrow = await keyWith(account, ['keys:write', 'rules:read']);
    const refused = await narrow.call('POST', '/api.CreateKey', { scopes: ['rules:read', 'rules:write'] });
    expect(refused.status).toBe(403);
    expect(refused.json).toMatchObject({
      code: 'permission_denied',
      details: { required_scope: 'rules:write' },
    });
    expect((await createKey(narrow)).scopes).toEqual(['keys:write', 'rules:read']);
  });

  test('a key grants no later expiry than its own, and its own by default', async () => {
    const account = await world.newAccount();
    const expiresAt = new Date(Date.now() + 3_600_000);
    const created = await world.admin.createKey({ accountId: account.accountId, expiresAt });
    if (!created) throw new Error('the account is gone');
    const api = server.api({ ...account, ...created });
    const later = new Date(expiresAt.getTime() + 1).toISOString();
    const refused = await api.call('POST', '/api.CreateKey', { expires_at: later });
    const message = `Must not be after ${expiresAt.toISOString()}, when the calling key expires.`;
    expect([refused.status, refused.json]).toMatchObject([
      400,
      { code: 'invalid_argument', details: { violations: [{ field: 'expires_at', message }] } },
    ]);
    const child = await createKey(api);
    expect(child.expires_at).toBe(expiresAt.toISOString());
    expect((await listKeys(api)).find(({ id }) => id === child.key_id)?.expires_at).toBe(child.expires_at);
    const { entries } = await listAudit(api);
    expect(entries[0]).toMatchObject({ target_id: child.key_id, after: { expires_at: child.expires_at } });
  });

  test('a key can be replaced: the key that it created still works after the old one revokes itself', async () => {
    const account = await world.newAccount();
    const api = server.api(account);
    const { key, key_id } = await createKey(api);
    expect((await api.call('POST', '/api.RevokeKey', { key_id: account.keyId })).status).toBe(200);
    expect((await listKeys(server.api({ ...account, key: key ?? '' }))).map(({ id }) => id)).toEqual([
      key_id,
    ]);
  });

  test("another account's key gets the same bytes as an unknown key, and still works", async () => {
    const [alice, bob] = [await world.newAccount(), await world.newAccount()];
    const revoke = (key_id: string) => server.api(bob).call('POST', '/api.RevokeKey', { key_id }, sameId);
    const [foreign, unknown] = [await revoke(alice.keyId), await revoke('key_unknown')];
    expect(foreign.status).toBe(404);
    expect(foreign.text).toBe(unknown.text);
    expect(await listKeys(server.api(alice))).toHaveLength(1);
    expect((await listKeys(server.api(bob))).map(({ id }) => id)).toEqual([bob.keyId]);
  });
});

describe('audit', () => {
  test('lists who changed what under which request, newest first', async () => {
    const account = await world.newAccount();
    const api = server.api(account);
    const body = { name: 'Dew', intent: 'i', platforms: ['x'], overrides: { x: 'dew' } };
    const made = await api.call('POST', '/api.CreateRule', body, { 'x-request-id': 'make-1' });
    const { rule_id } = operations.CreateRule.answer.parse(made.json);
    await api.call('POST', '/api.DeleteRule', { rule_id }, { 'x-request-id': 'drop-1' });
    const { key_id } = await createKey(api, { scopes: ['audit:read'] });
    await world.admin.revokeKey(key_id);
    const { entries, next_cursor } = await listAudit(api);
    expect(next_cursor).toBeNull();
    const rule = { name: 'Dew', state: 'active' };
    const key = { scopes: ['audit:read'] };
    const actor = account.keyId;
    expect(entries).toMatchObject([
      { operation: 'RevokeKey', actor: 'operator', target_id: key_id, before: key, request_id: null },
      { operation: 'CreateKey', actor, target_id: key_id, before: null, after: key },
      { operation: 'DeleteRule', actor, target_id: rule_id, before: rule, after: null, request_id: 'drop-1' },
      { operation: 'CreateRule', actor, target_id: rule_id, before: null, after: rule, request_id: 'make-1' },
      { operation: 'CreateKey', actor: 'operator', target_id: account.keyId, request_id: null },
      { operation: 'CreateAccount', actor: 'operator', target_id: account.accountId, before: null },
    ]);
  });

  test('records nothing for failed requests, and one entry for a repeated request', async () => {
    const api = server.api(await world.newAccount());
    const body = { name: 'n', intent: 'i', platforms: ['x'], overrides: { x: 'frost' } };
    const once = { 'idempotency-key': 'once' };
    await world.sandbox.arm({ kind: 'rule_refused', platform: 'x', count: 1 });
    expect((await api.call('POST', '/api.CreateRule', body)).status).toBe(400);
    await api.call('POST', '/api.CreateRule', body, once);
    await api.call('POST', '/api.CreateRule', body, once);
    await api.call('POST', '/api.DeleteRule', { rule_id: 'rule_unknown' });
    const { entries } = await listAudit(api);
    expect(entries.map(({ operation }) => operation)).toEqual(['CreateRule', 'CreateKey', 'CreateAccount']);
  });
});
