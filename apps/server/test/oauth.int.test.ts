import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byOperator } from '../src/accounts/change.ts';
import { createKeyStore, hashOf, newKey } from '../src/accounts/keys.ts';
import type { Database } from '../src/engines/database.ts';
import { createTokenLookup } from '../src/oauth/access-tokens.ts';
import { createArtefacts, forgetArtefacts } from '../src/oauth/artefacts.sql.ts';
import { deleteAccount } from '../src/removals/delete-account.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';

const resource = 'https://earshot.example.com/mcp';
const day = 24 * 60 * 60;

const stack = new AsyncDisposableStack();
let database: Database;
let artefacts: ReturnType<typeof createArtefacts>;
let tokens: ReturnType<typeof createTokenLookup>;
beforeAll(async () => {
  const template = await createMigratedTemplate();
  const clone = stack.use(await template.clone());
  database = stack.use(openTestDatabase(clone.url));
  artefacts = createArtefacts(database);
  tokens = createTokenLookup(database, resource);
});
afterAll(() => stack.disposeAsync());

let made = 0;

/** A grant with a refresh token and an access token, of a separate account. */
async function newGrant({ clientId = `client-${made}`, refreshSeconds = 30 * day } = {}) {
  const id = `${++made}`;
  const accountId = `acc_oauth${id}`;
  const keyId = `key_oauth${id}`;
  await database.run(`insert into accounts (id, name, plan) values ($1, 'one', 'paid')`, [accountId]);
  await createKeyStore(database).createKey(byOperator(accountId, 'CreateKey'), newKey(), {
    id: keyId,
    callingKeyId: null,
    scopes: ['rules:read', 'matches:read'],
    expiresAt: null,
    budget: null,
    keysMax: null,
    client: { id: clientId, name: 'Program' },
  });
  const common = { accountId, clientId };
  await artefacts('Grant').upsert(keyId, common, 3_650 * day);
  const issued = { ...common, grantId: keyId, aud: resource, scope: 'rules:read rules:write' };
  await artefacts('AccessToken').upsert(`access-${id}`, issued, 3_600);
  await artefacts('RefreshToken').upsert(`refresh-${id}`, issued, refreshSeconds);
  const principal = () => tokens.principalOf(hashOf(`access-${id}`));
  return { accountId, keyId, principal, access: `access-${id}`, refresh: `refresh-${id}`, clientId };
}

const kindsOf = async (grantId: string) =>
  (
    await database.many<{ kind: string }>(
      'select kind from oauth_artefacts where grant_id = $1 order by kind',
      [grantId],
    )
  ).map(({ kind }) => kind);

const isRevoked = async (keyId: string) =>
  (
    await database.one<{ gone: boolean }>(
      'select revoked_at is not null as gone from api_keys where id = $1',
      [keyId],
    )
  )?.gone;

describe('an access token', () => {
  test('allows what both it and its key allow', async () => {
    const { accountId, keyId, principal } = await newGrant();
    expect(await principal()).toMatchObject({ accountId, keyId, scopes: ['rules:read'] });
  });

  test.each([
    ['its key is revoked', `update api_keys set revoked_at = now() where id = $1`],
    ['its key has expired', `update api_keys set expires_at = now() where id = $1`],
    ['it has expired', `update oauth_artefacts set expires_at = now() where grant_id = $1`],
    [
      'it is for another resource',
      `update oauth_artefacts set payload = payload || '{"aud":"https://other.example/mcp"}' where grant_id = $1`,
    ],
    ['it is gone', `delete from oauth_artefacts where kind = 'AccessToken' and grant_id = $1`],
  ])('is refused when %s', async (_, statement) => {
    const { keyId, principal } = await newGrant();
    await database.run(statement, [keyId]);
    expect(await principal()).toBeNull();
  });

  test('cannot be replaced by another kind of secret', async () => {
    const { refresh } = await newGrant();
    expect(await tokens.principalOf(hashOf(refresh))).toBeNull();
  });
});

test('a grant is found while its key is valid and its account is active', async () => {
  const { accountId, keyId } = await newGrant();
  const find = () => artefacts('Grant').find(keyId);
  expect(await find()).toMatchObject({ jti: keyId, accountId });
  await database.run('update accounts set suspended_at = now() where id = $1', [accountId]);
  expect(await find()).toBeUndefined();
  await database.run('update accounts set suspended_at = null where id = $1', [accountId]);
  await database.run('update api_keys set revoked_at = now() where id = $1', [keyId]);
  expect(await find()).toBeUndefined();
});

test('destroying a grant revokes its key, and that is audited', async () => {
  const { accountId, keyId } = await newGrant();
  await artefacts('Grant').destroy(keyId);
  expect(await isRevoked(keyId)).toBe(true);
  expect(
    await database.many(
      `select actor, operation from audit where account_id = $1 and operation = 'RevokeKey'`,
      [accountId],
    ),
  ).toEqual([{ actor: 'earshot', operation: 'RevokeKey' }]);
});

test('one of several concurrent consumers succeeds', async () => {
  const { refresh } = await newGrant();
  const consumed = await Promise.all(
    Array.from({ length: 8 }, () => artefacts('RefreshToken').consume(refresh)),
  );
  expect(consumed.filter(Boolean)).toHaveLength(1);
  expect(await artefacts('RefreshToken').find(refresh)).toMatchObject({ consumed: expect.any(Number) });
});

describe('the cleanup deletes', () => {
  const age = (keyId: string) =>
    database.run(`update api_keys set created_at = now() - interval '1 hour' where id = $1`, [keyId]);

  test('what has expired, and all of a key that is no longer valid; nothing else', async () => {
    const [kept, expired, revoked] = [await newGrant(), await newGrant(), await newGrant()];
    for (const { keyId } of [kept, expired, revoked]) await age(keyId);
    await database.run(
      `update oauth_artefacts set expires_at = now() - interval '1 second' where kind = 'AccessToken' and grant_id = $1`,
      [expired.keyId],
    );
    await database.run('update api_keys set revoked_at = now() where id = $1', [revoked.keyId]);
    await forgetArtefacts(database);
    expect(await kindsOf(kept.keyId)).toEqual(['AccessToken', 'Grant', 'RefreshToken']);
    expect(await kindsOf(expired.keyId)).toEqual(['Grant', 'RefreshToken']);
    expect(await kindsOf(revoked.keyId)).toEqual([]);
    expect(await isRevoked(kept.keyId)).toBe(false);
  });

  test('a grant that is unusable, and its key; not a grant that was just created', async () => {
    const [spent, fresh] = [await newGrant(), await newGrant()];
    await age(spent.keyId);
    for (const { keyId } of [spent, fresh])
      await database.run(`delete from oauth_artefacts where kind <> 'Grant' and grant_id = $1`, [keyId]);
    await forgetArtefacts(database);
    expect([await isRevoked(spent.keyId), await isRevoked(fresh.keyId)]).toEqual([true, false]);
    expect([await kindsOf(spent.keyId), await kindsOf(fresh.keyId)]).toEqual([[], ['Grant']]);
  });

  test('a registration that was not used for a day after its creation, or for a year later', async () => {
    const clients = ['used', 'ended', 'long-ended', 'unused', 'new'];
    for (const client_id of clients) await artefacts('Client').upsert(client_id, { client_id });
    const [used, ended, longEnded] = clients.slice(0, 3).map((clientId) => newGrant({ clientId }));
    await used;
    for (const grant of [await ended, await longEnded])
      if (grant) await artefacts('Grant').destroy(grant.keyId);
    await database.run(
      `update oauth_artefacts set created_at = now() - interval '25 hours' where kind = 'Client' and client_id <> 'new'`,
    );
    await database.run(
      `update oauth_artefacts set consumed_at = now() - interval '366 days' where kind = 'Client' and client_id in ('used', 'long-ended')`,
    );
    await forgetArtefacts(database);
    const found = await Promise.all(clients.map((id) => artefacts('Client').find(id)));
    expect(found.flatMap((one) => one?.client_id ?? [])).toEqual(['used', 'ended', 'new']);
  });
});

test('all grants of a deleted account', async () => {
  const { accountId, keyId } = await newGrant();
  const request = { result: { login: { accountId } } };
  await artefacts('Interaction').upsert('request-1', request, 600);
  await deleteAccount(database, accountId, { settleMs: 0, lookMs: 20 });
  const left = await database.many(
    `select 1 from oauth_artefacts where row_to_json(oauth_artefacts)::text like any(array['%' || $1 || '%', '%' || $2 || '%'])`,
    [accountId, keyId],
  );
  expect(left).toEqual([]);
});
