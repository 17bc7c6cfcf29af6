import type { AdapterPayload } from 'oidc-provider';
import { byEarshot } from '../accounts/change.ts';
import { createKeyStore, hashOf, isServed, isValid } from '../accounts/keys.ts';
import type { Database } from '../engines/database.ts';
import { isOwnGrant } from './resource-server.ts';

/** The library's sessions are not stored: users decide about every request in the console. */
const notKept = 'Session';

/** A grant is a key, so it ends with the key. */
const ofValidKey = `exists (select 1 from api_keys where api_keys.id = oauth_artefacts.grant_id and ${isValid} and ${isServed})`;

/** The storage of the authorization server, by the kinds of the library. */
export function createArtefacts(database: Database) {
  const keys = createKeyStore(database);
  return (kind: string) => ({
    async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
      if (kind === notKept) return;
      await database.run(
        `insert into oauth_artefacts (kind, hash, payload, grant_id, client_id, account_id, expires_at)
         values ($1, $2, $3::jsonb - 'jti', $4, $5, $6, now() + $7 * interval '1 second')
         on conflict (kind, hash) do update
           set payload = excluded.payload, account_id = excluded.account_id, expires_at = excluded.expires_at`,
        [
          kind,
          hashOf(id),
          JSON.stringify(payload),
          // The id of a grant is that of its key; everything else that has a grant names it.
          kind === 'Grant' ? id : (payload.grantId ?? null),
          payload.clientId ?? payload.client_id ?? null,
          payload.accountId ?? payload.result?.login?.accountId ?? null,
          expiresIn ?? null,
        ],
      );
      if (kind === 'Client') await forgetOldestUnused(database);
      if (kind === 'Grant')
        await database.run(
          `update oauth_artefacts set consumed_at = now() where kind = 'Client' and client_id = $1`,
          [payload.clientId],
        );
    },
    async find(id: string): Promise<AdapterPayload | undefined> {
      const row = await database.one<{ payload: AdapterPayload; consumed: number | null }>(
        `select payload, extract(epoch from consumed_at)::int as consumed from oauth_artefacts
         where kind = $1 and hash = $2 and (oauth_artefacts.expires_at is null or oauth_artefacts.expires_at > now())
           and (kind <> 'Grant' or ${ofValidKey})`,
        [kind, hashOf(id)],
      );
      if (!row) return undefined;
      if (kind === 'Client') return row.payload;
      return { ...row.payload, jti: id, ...(row.consumed !== null && { consumed: row.consumed }) };
    },
    /** False if it was already consumed: of two concurrent requests, one is the first. */
    async consume(id: string): Promise<boolean> {
      const consumed = await database.run(
        'update oauth_artefacts set consumed_at = now() where kind = $1 and hash = $2 and consumed_at is null',
        [kind, hashOf(id)],
      );
      return consumed > 0;
    },
    async unconsume(id: string): Promise<void> {
      await database.run('update oauth_artefacts set consumed_at = null where kind = $1 and hash = $2', [
        kind,
        hashOf(id),
      ]);
    },
    async destroy(id: string): Promise<void> {
      const row = await database.one<{ account_id: string | null }>(
        'delete from oauth_artefacts where kind = $1 and hash = $2 returning account_id',
        [kind, hashOf(id)],
      );
      if (kind === 'Grant' && row?.account_id)
        await keys.revokeKey(byEarshot(row.account_id, 'RevokeKey'), id);
    },
    async revokeByGrantId(grantId: string): Promise<void> {
      await database.run('delete from oauth_artefacts where kind = $1 and grant_id = $2', [kind, grantId]);
    },
  });
}

/** SQL: clients without any grant so far. `consumed_at` is the time of the last grant. */
const isUnused = `kind = 'Client' and consumed_at is null`;

/** SQL: clients that were not used for a year. Few programs register again, so unused clients are kept for long. */
const isLongUnused = `kind = 'Client' and consumed_at < now() - interval '1 year' and not exists (
  select 1 from oauth_artefacts as given where given.client_id = oauth_artefacts.client_id and given.kind = 'Grant')`;

const unusedClientsMax = 1_000;

/** Makes room for a new registration. Refusing it instead would let one attacker lock out all other programs. */
async function forgetOldestUnused(database: Database): Promise<void> {
  await database.run(
    `delete from oauth_artefacts where ${isUnused} and hash in (
       select hash from oauth_artefacts where ${isUnused} order by created_at desc offset ${unusedClientsMax})`,
  );
}

/** Longer than the lifetime of a code, with which a grant begins. */
const newGrant = `interval '10 minutes'`;

/** SQL: grants that can no longer be used: the refresh token has expired, or the code was never used. */
const isSpent = `${isOwnGrant} and ${isValid} and created_at < now() - ${newGrant} and not exists (
  select 1 from oauth_artefacts as live where live.grant_id = api_keys.id and live.expires_at > now()
    and live.kind in ('AuthorizationCode', 'AccessToken', 'RefreshToken') and live.consumed_at is null)`;

/** Removes artefacts that can no longer be used, and revokes the keys of such grants. */
export async function forgetArtefacts(database: Database): Promise<void> {
  await database.run('delete from oauth_artefacts where expires_at < now()');
  const keys = createKeyStore(database);
  const spent = await database.many<{ id: string; account_id: string }>(
    `select id, account_id from api_keys where ${isSpent} limit 1000`,
  );
  for (const { id, account_id: accountId } of spent)
    await keys.revokeKey(byEarshot(accountId, 'RevokeKey'), id);
  await database.run(
    `delete from oauth_artefacts where grant_id is not null
       and not exists (select 1 from api_keys where api_keys.id = grant_id and ${isValid})`,
  );
  await database.run(
    `delete from oauth_artefacts where ${isUnused} and created_at < now() - interval '1 day' or ${isLongUnused}`,
  );
}
