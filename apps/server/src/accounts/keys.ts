import { createHash, randomInt } from 'node:crypto';
import { type AnswerOf, type Budget, formatKey, type Key, type Scope } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import type { Cursors, PageQuery } from '../runtime/cursor.ts';
import { badField, Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import type { Handler, Principal } from './call.ts';
import { type Change, recordChange } from './change.ts';

/** The same answer for a missing, malformed, unknown, expired and revoked key. */
export function keyRefused(): Failure {
  return new Failure('unauthenticated', 'Send a valid API key as "Authorization: Bearer <API_KEY>".');
}

export function assertScope({ scopes }: Pick<Principal, 'scopes'>, scope: Scope): void {
  if (scopes.includes(scope)) return;
  throw new Failure('permission_denied', `The key lacks the scope "${scope}". Use a key that has it.`, {
    details: { required_scope: scope },
  });
}

export function accountSuspended(): Failure {
  return new Failure(
    'permission_denied',
    'The account is suspended. Its rules and webhooks are paused until the operator of this service resumes it. Ask the operator.',
  );
}

interface CreateKeyOptions {
  readonly keys: Pick<KeyStore, 'createKey'>;
  readonly contact: string;
}

export function createKey(options: CreateKeyOptions): Handler<'CreateKey'> {
  return async ({ principal, request, change }) => {
    const key = newKey();
    const answer = await createKeyAs(options, { principal, change }, key, {
      name: request.name ?? null,
      scopes: request.scopes ?? principal.scopes,
      expiresAt: readExpiry(request.expires_at),
      budget: request.budget ?? null,
    });
    return { ...answer, key: key.key };
  };
}

/** A new key never gets more than the calling key has: scopes, lifetime and account. */
export async function createKeyAs(
  { keys, contact }: CreateKeyOptions,
  { principal, change }: { readonly principal: Principal; readonly change: Change },
  key: Omit<NewKey, 'key'>,
  wanted: Pick<KeyGrant, 'name' | 'scopes' | 'expiresAt' | 'budget' | 'client'>,
): Promise<AnswerOf<'CreateKey'>> {
  for (const scope of wanted.scopes) assertScope(principal, scope);
  const keysMax = principal.limits.keys;
  const grant = { ...wanted, id: newId('key'), callingKeyId: principal.keyId, keysMax };
  const outcome = await keys.createKey(change, key, grant);
  switch (outcome.kind) {
    case 'created':
      return outcome.answer;
    case 'keys_limit':
      throw new Failure(
        'resource_exhausted',
        `The account has ${outcome.used} of ${keysMax} keys. Revoke one, or ask ${contact} for more.`,
        { details: { reason: 'plan_limit', limit: keysMax, used: outcome.used, contact } },
      );
    case 'calling_key_ended':
      throw keyRefused();
    case 'calling_key_ends_before':
      throw badField(
        'expires_at',
        `Must not be after ${outcome.at.toISOString()}, when the calling key expires.`,
      );
    case 'calling_key_has_budget':
      throw badField(
        'budget',
        'The calling key has a budget, which also limits the new key. Omit this field.',
      );
    case 'no_account':
      throw new Error('a key without an account was accepted');
  }
}

function readExpiry(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const date = new Date(text);
  if (date.getTime() > Date.now()) return date;
  throw badField('expires_at', 'Must be in the future.');
}

export function whoAmI(): Handler<'WhoAmI'> {
  return async ({ principal: { keyId, scopes } }) => ({ key_id: keyId, scopes: [...scopes] });
}

export function listKeys(keys: Pick<KeyStore, 'listKeys'>, cursors: Cursors): Handler<'ListKeys'> {
  return async ({ principal: { accountId }, request }) => {
    const read = (page: PageQuery) => keys.listKeys(accountId, page);
    const page = await cursors.page({ accountId, filter: ['keys'] }, request, read, ({ id }) => id);
    return { keys: page.items, next_cursor: page.next_cursor };
  };
}

export function revokeKey(keys: Pick<KeyStore, 'revokeKey'>): Handler<'RevokeKey'> {
  return async ({ request, change }) => {
    const answer = await keys.revokeKey(change, request.key_id);
    // The same, to the byte, for an unknown key, a revoked key and a key of another account (I7).
    if (!answer) {
      throw new Failure('not_found', 'The key does not exist. List your keys to see their ids.');
    }
    return answer;
  };
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export interface NewKey {
  /** Shown once; only its hash is kept. */
  readonly key: string;
  readonly hash: Buffer;
  /** Enough to recognise it in a list. */
  readonly display: string;
}

export function newKey(): NewKey {
  const key = formatKey(Array.from({ length: 32 }, () => base62.charAt(randomInt(62))).join(''));
  return { key, hash: hashOf(key), display: `${key.slice(0, 8)}…${key.slice(-4)}` };
}

export function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

interface KeyGrant {
  readonly id: string;
  /** Id of the calling key, which the new one does not outlive; null for an operator. */
  readonly callingKeyId: string | null;
  readonly name?: string | null;
  readonly scopes: readonly Scope[];
  /** Null: when the calling key expires. */
  readonly expiresAt: Date | null;
  /** Its own budget; null: it spends the budget of the calling key, if that has one. */
  readonly budget: Budget | null;
  /** Null: an operator is not bound by the plan. */
  readonly keysMax: number | null;
  /** Set for the key of an OAuth authorization: the program that acts with it. Nothing else can use the key. */
  readonly client?: KeyClient;
}

export interface KeyClient {
  readonly id: string;
  readonly name: string;
}

type CreateKeyOutcome =
  | { readonly kind: 'created'; readonly answer: AnswerOf<'CreateKey'> }
  | { readonly kind: 'no_account' }
  | { readonly kind: 'calling_key_ended' }
  | { readonly kind: 'calling_key_ends_before'; readonly at: Date }
  | { readonly kind: 'calling_key_has_budget' }
  | { readonly kind: 'keys_limit'; readonly used: number };

interface KeyRow {
  readonly id: string;
  readonly display: string;
  readonly name: string | null;
  readonly scopes: Scope[];
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
  readonly budget: Budget | null;
  readonly client: KeyClient | null;
}

/** SQL: the OAuth client of a row of `api_keys`. */
const clientOfKey = `case when client_id is not null then json_build_object('id', client_id, 'name', client_name) end`;

/** SQL: whether a row of `api_keys` is valid. */
export const isValid = 'revoked_at is null and (expires_at is null or expires_at > now())';

/** SQL: whether the account of a row of `api_keys` is not suspended. */
export const isServed = `not exists (
  select 1 from accounts where accounts.id = api_keys.account_id and suspended_at is not null)`;

export type KeyStore = ReturnType<typeof createKeyStore>;

/** The keys of an account. The account is that of the change; a key of another account is treated as unknown. */
export function createKeyStore(database: Database) {
  return {
    createKey: (change: Change, key: Omit<NewKey, 'key'>, grant: KeyGrant) =>
      database.forAccount(change.accountId).transaction((sql) => insertKey(sql, change, key, grant)),
    async listKeys(accountId: string, { before, limit }: PageQuery): Promise<Key[]> {
      const rows = await database.forAccount(accountId).many<KeyRow>(
        `select id, display, name, scopes, created_at, expires_at, last_used_at, ${budgetOfKey} as budget, ${clientOfKey} as client
         from api_keys where account_id = $1 and ${isValid} and ($2::text is null or id < $2)
         order by id desc limit $3`,
        [accountId, before, limit],
      );
      return rows.map(toKey);
    },
    /** Null when there is no such key, or it was already revoked. */
    revokeKey: (change: Change, keyId: string) =>
      database.forAccount(change.accountId).transaction((sql) => revoke(sql, change, keyId)),
  };
}

/** SQL: the budget that a key spends: its own, or that of the key that created it. */
const budgetOfKey = '(select spent.budget from api_keys as spent where spent.id = api_keys.spends_from)';

interface CallingKey extends Pick<KeyRow, 'expires_at' | 'budget'> {
  readonly spends_from: string | null;
}

const operator: CallingKey = { expires_at: null, budget: null, spends_from: null };

/** Counted under the account's row lock, so that two concurrent requests cannot both create the last key. */
async function insertKey(
  sql: Sql,
  change: Change,
  { hash, display }: Omit<NewKey, 'key'>,
  { id, callingKeyId, name = null, scopes, expiresAt: requested, budget, keysMax, client }: KeyGrant,
): Promise<CreateKeyOutcome> {
  const { accountId } = change;
  const account = await sql.one('select 1 from accounts where id = $1 for update', [accountId]);
  if (!account) return { kind: 'no_account' };
  const callingKey = callingKeyId === null ? operator : await lockCallingKey(sql, callingKeyId);
  if (!callingKey) return { kind: 'calling_key_ended' };
  const bound = callingKey.expires_at;
  if (requested && bound && requested > bound) return { kind: 'calling_key_ends_before', at: bound };
  if (budget && callingKey.spends_from !== null) return { kind: 'calling_key_has_budget' };
  const spendsFrom = budget ? id : callingKey.spends_from;
  const expiresAt = requested ?? bound;
  const count = await sql.one<{ used: number }>(
    `select count(*) as used from api_keys where account_id = $1 and ${isValid}`,
    [accountId],
  );
  const used = count?.used ?? 0;
  if (keysMax !== null && used >= keysMax) return { kind: 'keys_limit', used };
  const row = await sql.one<{ created_at: Date }>(
    `insert into api_keys (id, account_id, hash, display, name, scopes, expires_at, budget, spends_from, client_id, client_name)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning created_at`,
    [
      id,
      accountId,
      hash,
      display,
      name,
      scopes,
      expiresAt,
      budget && JSON.stringify(budget),
      spendsFrom,
      client?.id ?? null,
      client?.name ?? null,
    ],
  );
  const after = {
    name,
    display,
    scopes: [...scopes],
    expires_at: expiresAt?.toISOString() ?? null,
    budget: budget ?? callingKey.budget,
  };
  const createdAt = (row?.created_at ?? new Date()).toISOString();
  const answer = {
    id,
    key_id: id,
    key: null,
    ...after,
    created_at: createdAt,
    last_used_at: null,
    client: client ?? null,
  };
  const recorded = { ...after, ...(client && { client }) };
  await recordChange(sql, change, { targetId: id, before: null, after: recorded, answer });
  return { kind: 'created', answer };
}

/** Locked until the new key is committed: a revoked key cannot create another, even if a node still caches it. */
async function lockCallingKey(sql: Sql, keyId: string): Promise<CallingKey | null> {
  return await sql.one(
    `select expires_at, spends_from, ${budgetOfKey} as budget from api_keys where id = $1 and ${isValid} for share`,
    [keyId],
  );
}

/** Keys that were created with this one stay valid: to rotate a key, you create the new one with the old one and revoke the old one. */
async function revoke(sql: Sql, change: Change, keyId: string): Promise<AnswerOf<'RevokeKey'> | null> {
  const row = await sql.one<KeyRow & { revoked_at: Date }>(
    `update api_keys set revoked_at = now()
     where id = $1 and account_id = $2 and revoked_at is null
     returning name, display, scopes, expires_at, revoked_at`,
    [keyId, change.accountId],
  );
  if (!row) return null;
  const { name, display, scopes, expires_at, revoked_at } = row;
  const before = { name, display, scopes, expires_at: expires_at?.toISOString() ?? null };
  const answer = { key_id: keyId, revoked_at: revoked_at.toISOString() };
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
