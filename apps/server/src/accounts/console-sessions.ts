import { randomBytes } from 'node:crypto';
import type { Scope } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import { joinCalls } from '../runtime/join-calls.ts';
import { type KeyGuesses, tooManyGuesses } from './authenticate.ts';
import type { Principal } from './call.ts';
import { recordChange } from './change.ts';
import { accountSuspended, hashOf, isValid } from './keys.ts';
import { allowedColumns, ofPlan, type PlanAndLimits } from './plans.ts';

/** A signed-in session of the console. */
export interface ConsoleSession {
  /** The principal of the key, with the id of the session. */
  readonly principal: Principal & { readonly sessionId: string };
  readonly accountName: string;
  /** When the session ends unless it is used. */
  readonly expiresAt: Date;
  /** Whether its last use was recorded more than a minute ago. */
  readonly isStale: boolean;
}

export interface SignInResult {
  readonly session: ConsoleSession;
  /** Sent to the browser only; the database has its hash. */
  readonly token: string;
}

interface SignIn {
  /** Tokens that the browser already has. They never sign it in, and the sessions behind them end. */
  readonly formerTokens: readonly string[];
  readonly requestId: string;
}

/** A key that signs in more often than this ends its oldest session. */
const sessionsPerKeyMax = 20;
const linkSeconds = 60;

/** SQL: whether a session is open. Its key must be checked as well. */
const isOpen = `console_sessions.created_at > now() - interval '7 days'
  and console_sessions.last_used_at > now() - interval '12 hours'`;

/** SQL: all sessions that are open and have a valid key. */
export const openSessions = `console_sessions join api_keys on api_keys.id = console_sessions.key_id and ${isValid} and ${isOpen}`;

export type ConsoleSessions = ReturnType<typeof createConsoleSessions>;

/**
 * Sessions of the console. Every request looks its session up, and no node caches it. A session therefore ends everywhere as
 * soon as it is signed out or its key stops being valid. A signed token without a row could not be revoked, and an injected script
 * could steal a key that the page stores.
 */
export function createConsoleSessions(options: {
  readonly database: Database;
  readonly guesses: KeyGuesses;
}) {
  const { database, guesses } = options;
  const find = joinCalls((tokens: readonly string[]) => readSessions(database, tokens));
  return {
    /** Null unless the token belongs to an open session with a valid key. */
    async sessionOf(token: string): Promise<ConsoleSession | null> {
      if (!isToken(token)) return null;
      const session = await find(token);
      if (session?.principal.isSuspended) throw accountSuspended();
      // Not awaited: if it fails, the next request tries again.
      if (session?.isStale) touch(database, session.principal).catch(() => undefined);
      return session;
    },

    async createLink({ accountId, keyId }: Principal): Promise<{ code: string; expiresAt: Date }> {
      const code = newToken();
      const link = await database.one<{ expires_at: Date }>(
        `insert into console_links (hash, account_id, key_id) values ($1, $2, $3)
         returning created_at + interval '${linkSeconds} seconds' as expires_at`,
        [hashOf(code), accountId, keyId],
      );
      if (!link) throw new Error('the link was not stored');
      return { code, expiresAt: link.expires_at };
    },

    /** The account to which a link signs in. It stays usable. */
    async accountOfLink(code: string, address: string): Promise<{ accountName: string }> {
      const link = isToken(code)
        ? await database.one<{ name: string }>(
            `select name from console_links join accounts on accounts.id = account_id
             where hash = $1 and console_links.${isFresh}`,
            [hashOf(code)],
          )
        : null;
      if (link) return { accountName: link.name };
      throw refuseCode(guesses, address);
    },

    signInWithKey: ({ keyId }: Principal, signIn: SignIn) =>
      database.transaction((sql) => openSession(sql, { ...signIn, keyId, by: 'key' })),

    async signInWithCode(code: string, address: string, signIn: SignIn): Promise<SignInResult> {
      const signedIn = await database.transaction(async (sql) => {
        const link = isToken(code) ? await takeLink(sql, code) : null;
        if (!link) return null;
        await assertSameAccount(sql, link.account_id, signIn.formerTokens);
        return await openSession(sql, { ...signIn, keyId: link.key_id, by: 'link' });
      });
      if (signedIn) return signedIn;
      throw refuseCode(guesses, address);
    },

    signOut: (tokens: readonly string[], requestId: string) =>
      database.transaction((sql) => endSessions(sql, tokens, requestId)),
  };
}

function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Other values are not worth a database query. */
function isToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** SQL: of a row of `console_links`. */
const isFresh = `created_at > now() - interval '${linkSeconds} seconds'`;

/** Deletes the link at its first use, so that it works only once. */
async function takeLink(sql: Sql, code: string) {
  return await sql.one<{ account_id: string; key_id: string }>(
    `delete from console_links where hash = $1 and ${isFresh} returning account_id, key_id`,
    [hashOf(code)],
  );
}

function refuseCode(guesses: KeyGuesses, address: string): Failure {
  const waitSeconds = guesses.failed(address);
  if (waitSeconds !== null) return tooManyGuesses(waitSeconds);
  return new Failure(
    'unauthenticated',
    `This link was already used, or is older than ${linkSeconds} seconds. Run "earshot console" for a new one.`,
  );
}

/**
 * A link may be sent by an attacker who wants the victim to work in the attacker's account. So the console names the account and asks
 * before it uses a link, and a link never replaces the session of another account. The link stays usable.
 */
async function assertSameAccount(sql: Sql, accountId: string, formerTokens: readonly string[]) {
  const sessions = await readSessions(sql, formerTokens.filter(isToken));
  if (sessions.every((former) => former === null || former.principal.accountId === accountId)) return;
  throw new Failure(
    'failed_precondition',
    'This link belongs to another account than the one you are signed in to. If you trust the sender, sign out and open it again.',
    { details: { reason: 'wrong_account' } },
  );
}

async function openSession(
  sql: Sql,
  { keyId, by, formerTokens, requestId }: SignIn & { keyId: string; by: 'key' | 'link' },
): Promise<SignInResult | null> {
  await endSessions(sql, formerTokens, requestId);
  const token = newToken();
  const id = newId('ses');
  await sql.run(
    `delete from console_sessions where id in
       (select id from console_sessions where key_id = $1 order by created_at desc offset $2)`,
    [keyId, sessionsPerKeyMax - 1],
  );
  await sql.run(
    `insert into console_sessions (id, hash, account_id, key_id)
     select $1, $2, account_id, id from api_keys where id = $3 and ${isValid}`,
    [id, hashOf(token), keyId],
  );
  const [session] = await readSessions(sql, [token]);
  if (!session) return null;
  const { accountId } = session.principal;
  const change = { accountId, actor: keyId, operation: 'SignIn', requestId, claim: null };
  await recordChange(sql, change, { targetId: id, before: null, after: { by }, answer: {} });
  return { session, token };
}

async function endSessions(sql: Sql, tokens: readonly string[], requestId: string): Promise<void> {
  const ended = await sql.many<{ id: string; account_id: string; key_id: string }>(
    'delete from console_sessions where hash = any($1) returning id, account_id, key_id',
    [tokens.filter(isToken).map(hashOf)],
  );
  for (const { id, account_id: accountId, key_id: actor } of ended) {
    const change = { accountId, actor, operation: 'SignOut', requestId, claim: null };
    await recordChange(sql, change, { targetId: id, before: null, after: null, answer: {} });
  }
}

interface SessionRow extends PlanAndLimits {
  readonly hash: Buffer;
  readonly id: string;
  readonly account_id: string;
  readonly account_name: string;
  readonly is_suspended: boolean;
  readonly key_id: string;
  readonly scopes: Scope[];
  readonly expires_at: Date;
  readonly is_stale: boolean;
}

async function readSessions(sql: Sql, tokens: readonly string[]): Promise<(ConsoleSession | null)[]> {
  const hashes = tokens.map(hashOf);
  // A lookup counts as a use.
  const rows = await sql.prepared<SessionRow>(
    `select console_sessions.hash, console_sessions.id, console_sessions.account_id, accounts.name as account_name,
       ${allowedColumns}, accounts.suspended_at is not null as is_suspended, key_id, api_keys.scopes,
       least(now() + interval '12 hours', console_sessions.created_at + interval '7 days', api_keys.expires_at) as expires_at,
       console_sessions.last_used_at < now() - interval '1 minute' as is_stale
     from ${openSessions} join accounts on accounts.id = console_sessions.account_id join ${ofPlan}
     where console_sessions.hash = any($1)`,
    [hashes],
  );
  return hashes.map((hash) => toSession(rows.find((row) => row.hash.equals(hash))));
}

function toSession(row: SessionRow | undefined): ConsoleSession | null {
  if (!row) return null;
  const { id: sessionId, account_id: accountId, key_id: keyId, plan, limits, scopes } = row;
  return {
    principal: { accountId, keyId, plan, limits, scopes, sessionId, isSuspended: row.is_suspended },
    accountName: row.account_name,
    expiresAt: row.expires_at,
    isStale: row.is_stale,
  };
}

/** Marks the session and its key as used. */
async function touch(database: Database, { sessionId, keyId }: ConsoleSession['principal']): Promise<void> {
  await database.run('update console_sessions set last_used_at = now() where id = $1', [sessionId]);
  await database.run('update api_keys set last_used_at = now() where id = $1', [keyId]);
}

/** Removes sessions and links that can no longer be used. */
export async function forgetConsoleSessions(database: Database): Promise<void> {
  await database.run(`delete from console_links where not ${isFresh}`);
  await database.run(
    `delete from console_sessions where not (${isOpen})
       or not exists (select 1 from api_keys where api_keys.id = key_id and ${isValid})`,
  );
}
