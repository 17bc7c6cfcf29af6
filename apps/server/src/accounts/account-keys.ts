import type { AnswerOf, Key, Scope } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import type { Change } from './change.ts';
import { recordChange } from './change-rows.ts';
import type { NewKey, StoredKey } from './create-key.ts';
import type { AccountKeys, CreateKeyOutcome } from './key-store.ts';

const works = 'revoked_at is null and (expires_at is null or expires_at > now())';

interface KeyRow {
  readonly id: string;
  readonly display: string;
  readonly scopes: Scope[];
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
}

export function createAccountKeys(database: Database): AccountKeys {
  return {
    createKey: (change, key, stored) =>
      database.forAccount(change.accountId).transaction((sql) => create(sql, change, { key, stored })),
    async listKeys(accountId) {
      const rows = await database.forAccount(accountId).many<KeyRow>(
        `select id, display, scopes, created_at, expires_at, last_used_at from api_keys
         where account_id = $1 and ${works} order by id desc`,
        [accountId],
      );
      return rows.map(toKey);
    },
    revokeKey: (change, keyId) =>
      database.forAccount(change.accountId).transaction((sql) => revoke(sql, change, keyId)),
  };
}

/** Counted under the account's row lock, so that two requests cannot both take the last place. */
async function create(
  sql: Sql,
  change: Change,
  { key, stored }: { key: NewKey; stored: StoredKey },
): Promise<CreateKeyOutcome> {
  const { accountId } = change;
  const account = await sql.one('select 1 from accounts where id = $1 for update', [accountId]);
  if (!account) return { kind: 'no_account' };
  const count = await sql.one<{ used: number }>(
    `select count(*) as used from api_keys where account_id = $1 and ${works}`,
    [accountId],
  );
  const used = count?.used ?? 0;
  if (stored.keysMax !== null && used >= stored.keysMax) return { kind: 'keys_limit', used };
  const row = await sql.one<{ created_at: Date }>(
    `insert into api_keys (id, account_id, hash, display, scopes, expires_at)
     values ($1, $2, $3, $4, $5, $6) returning created_at`,
    [stored.id, accountId, key.hash, key.display, stored.scopes, stored.expiresAt],
  );
  const expiresAt = stored.expiresAt?.toISOString() ?? null;
  const answer = {
    key_id: stored.id,
    key: null,
    display: key.display,
    scopes: [...stored.scopes],
    created_at: (row?.created_at ?? new Date()).toISOString(),
    expires_at: expiresAt,
  };
  const after = { display: key.display, scopes: stored.scopes, expires_at: expiresAt };
  await recordChange(sql, change, { targetId: stored.id, before: null, after, answer });
  return { kind: 'created', answer };
}

async function revoke(sql: Sql, change: Change, keyId: string): Promise<AnswerOf<'RevokeKey'> | null> {
  const row = await sql.one<KeyRow & { revoked_at: Date }>(
    `update api_keys set revoked_at = now()
     where id = $1 and account_id = $2 and revoked_at is null
     returning display, scopes, expires_at, revoked_at`,
    [keyId, change.accountId],
  );
  if (!row) return null;
  const before = {
    display: row.display,
    scopes: row.scopes,
    expires_at: row.expires_at?.toISOString() ?? null,
  };
  const answer = { key_id: keyId, revoked_at: row.revoked_at.toISOString() };
  await recordChange(sql, change, { targetId: keyId, before, after: null, answer });
  return answer;
}

function toKey({ created_at, expires_at, last_used_at, ...row }: KeyRow): Key {
  return {
    ...row,
    created_at: created_at.toISOString(),
    expires_at: expires_at?.toISOString() ?? null,
    last_used_at: last_used_at?.toISOString() ?? null,
  };
}
