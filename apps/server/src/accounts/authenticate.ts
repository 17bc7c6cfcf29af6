import { isIP } from 'node:net';
import { isWellFormedKey, type Scope } from '@earshot/contract';
import type { Database } from '../engines/database.ts';
import { Failure } from '../runtime/failure.ts';
import { joinCalls } from '../runtime/join-calls.ts';
import type { Principal } from './call.ts';
import { accountSuspended, hashOf, isValid, keyRefused } from './keys.ts';
import { allowedColumns, ofPlan, type PlanAndLimits } from './plans.ts';
import { createTakeOne } from './token-bucket.ts';

/** Checks the `Authorization` header of a request from this address. Throws unless it holds a valid key. */
export type Authenticate = (authorization: string | undefined, address: string) => Promise<Principal>;

/** A revoked key works at most this long on a node that has just seen it (promise: 5 s). */
const rememberMs = 3_000;
/** An unknown key stays unknown: new keys are random, and a revoked key is never restored. */
const unknownForMs = 60_000;
const rememberedMax = 10_000;
const touchEveryMs = 60_000;

interface CachedPrincipal {
  readonly principal: Principal;
  readonly until: number;
}

export function tooManyGuesses(waitSeconds: number): Failure {
  return new Failure(
    'resource_exhausted',
    `Too many requests with unknown API keys come from your address. Wait ${waitSeconds} s.`,
    { details: { reason: 'rate_limit' }, retryAfterSeconds: waitSeconds },
  );
}

export function createAuthenticate(options: {
  readonly store: KeyLookup;
  readonly guesses: KeyGuesses;
  readonly nowMs: () => number;
  /** Which bearer tokens are looked up; API keys by default. */
  readonly isWellFormed?: (bearer: string) => boolean;
}): Authenticate {
  const { store, guesses, nowMs, isWellFormed = isWellFormedKey } = options;
  const remembered = new Map<string, CachedPrincipal>();
  const unknownUntil = new Map<string, number>();
  const touchedAt = new Map<string, number>();
  /** Requests with the same key at the same time share one look-up: a flood must not overload the database. */
  const pending = new Map<string, Promise<Principal | null>>();

  const touch = (keyId: string) => {
    const now = nowMs();
    const touched = touchedAt.get(keyId);
    if (touched !== undefined && now - touched < touchEveryMs) return;
    if (touchedAt.size >= rememberedMax) touchedAt.clear();
    touchedAt.set(keyId, now);
    store.touch(keyId).catch(() => touchedAt.delete(keyId));
  };

  const lookUp = (id: string, hash: Buffer) => {
    const found = pending.get(id) ?? store.principalOf(hash).finally(() => pending.delete(id));
    pending.set(id, found);
    return found;
  };

  /** Removes the oldest entry when there are too many. */
  const noteUnknown = (id: string) => {
    const [oldest] = unknownUntil.size >= rememberedMax ? unknownUntil.keys() : [];
    if (oldest !== undefined) unknownUntil.delete(oldest);
    unknownUntil.set(id, nowMs() + unknownForMs);
  };

  return async (authorization, address) => {
    const key = bearerOf(authorization);
    if (!isWellFormed(key)) throw keyRefused();
    const hash = hashOf(key);
    const id = hash.toString('base64');
    const known = remembered.get(id);
    if (known && known.until > nowMs()) return known.principal;
    if ((unknownUntil.get(id) ?? Number.NEGATIVE_INFINITY) > nowMs()) throw keyRefused();
    unknownUntil.delete(id);
    // Also when the address is over its limit: other callers behind the same address must not lock out a valid key.
    const principal = await lookUp(id, hash);
    remembered.delete(id);
    if (!principal) {
      noteUnknown(id);
      const waitSeconds = known ? null : guesses.failed(address);
      throw waitSeconds === null ? keyRefused() : tooManyGuesses(waitSeconds);
    }
    // Not cached: the account may be resumed at any moment.
    if (principal.isSuspended) throw accountSuspended();
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(id, { principal, until: nowMs() + rememberMs });
    touch(principal.keyId);
    return principal;
  };
}

/** Empty when the header holds none. */
export function bearerOf(authorization: string | undefined): string {
  return authorization?.startsWith('Bearer ') ? authorization.slice('Bearer '.length) : '';
}

export interface PrincipalRow extends PlanAndLimits {
  readonly hash: Buffer;
  readonly id: string;
  readonly account_id: string;
  readonly is_suspended: boolean;
  readonly scopes: Scope[];
}

export type KeyLookup = ReturnType<typeof createKeyLookup>;

export function createKeyLookup(database: Database) {
  return {
    /** Null unless the key is valid. Lookups that arrive together share one statement, and so one connection. */
    principalOf: joinCalls(async (hashes: readonly Buffer[]): Promise<(Principal | null)[]> => {
      const rows = await database.prepared<PrincipalRow>(
        `select hash, api_keys.id, api_keys.account_id, ${allowedColumns},
           accounts.suspended_at is not null as is_suspended, api_keys.scopes
         from api_keys join accounts on accounts.id = api_keys.account_id join ${ofPlan}
         where hash = any($1) and ${isValid}`,
        [hashes],
      );
      return hashes.map((hash) => toPrincipal(rows.find((row) => row.hash.equals(hash))));
    }),
    async touch(keyId: string): Promise<void> {
      await database.run('update api_keys set last_used_at = now() where id = $1', [keyId]);
    },
  };
}

export function toPrincipal(row: PrincipalRow | undefined): Principal | null {
  if (!row) return null;
  const { account_id: accountId, id: keyId, is_suspended: isSuspended, plan, limits, scopes } = row;
  return { accountId, keyId, plan, limits, scopes, isSuspended };
}

interface KeyGuessesOptions {
  readonly perMinute: number;
  readonly nowMs: () => number;
  /** An address that was forgotten starts with a full bucket. */
  readonly rememberedMax?: number;
}

export type KeyGuesses = ReturnType<typeof createKeyGuesses>;

/**
 * How many unknown keys an address may try per minute. It does not bound the database load: `joinCalls` does, which runs one
 * lookup statement at a time however many callers there are.
 */
export function createKeyGuesses(options: KeyGuessesOptions) {
  const take = createTakeOne(options);
  return {
    /** Counts one more unknown key from the address. Null when it may try another; else the seconds until it may. */
    failed: (address: string): number | null => take(networkOf(address)),
  };
}

/**
 * The network that a caller is counted by: the /64 for IPv6, the address for IPv4. A proxy may report anything, so all values that
 * are not addresses count as one network.
 */
function networkOf(address: string): string {
  if (isIP(address) === 0) return 'other';
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [start = ''] = address.split('::');
  return start.split(':').slice(0, 4).join(':');
}
