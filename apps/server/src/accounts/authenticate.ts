import { createHash } from 'node:crypto';
import { isWellFormedKey } from '@earshot/contract';
import { Failure } from '../runtime/failure.ts';
import type { Principal } from './principal.ts';

export interface KeyStore {
  /** Only a key that is neither revoked nor expired has a principal. */
  principalOf(keyHash: Buffer): Promise<Principal | null>;
  touch(keyId: string): Promise<void>;
}

export type Authenticate = (authorization: string | undefined) => Promise<Principal>;

/** A revoked key works at most this long on a node that has just seen it (promise: 5 s). */
const rememberMs = 3_000;
const rememberedMax = 10_000;
const touchEveryMs = 60_000;

interface Remembered {
  readonly principal: Principal;
  readonly until: number;
}

/** One and the same answer for a missing, malformed, unknown, expired and revoked key. */
function refuse(): Failure {
  return new Failure('unauthenticated', 'Send a valid API key as "Authorization: Bearer <API_KEY>".');
}

export function createAuthenticate(store: KeyStore, nowMs: () => number): Authenticate {
  const remembered = new Map<string, Remembered>();
  const touchedAt = new Map<string, number>();
  /** One look-up for however many requests come with the same key at once: a flood must not take the database. */
  const underWay = new Map<string, Promise<Principal | null>>();

  const touch = (keyId: string) => {
    const now = nowMs();
    const touched = touchedAt.get(keyId);
    if (touched !== undefined && now - touched < touchEveryMs) return;
    if (touchedAt.size >= rememberedMax) touchedAt.clear();
    touchedAt.set(keyId, now);
    store.touch(keyId).catch(() => touchedAt.delete(keyId));
  };

  const lookUp = (id: string, hash: Buffer) => {
    const found = underWay.get(id) ?? store.principalOf(hash).finally(() => underWay.delete(id));
    underWay.set(id, found);
    return found;
  };

  return async (authorization) => {
    const key = authorization?.startsWith('Bearer ') ? authorization.slice('Bearer '.length) : '';
    if (!isWellFormedKey(key)) throw refuse();
    const hash = createHash('sha256').update(key).digest();
    const id = hash.toString('base64');
    const known = remembered.get(id);
    if (known && known.until > nowMs()) return known.principal;
    remembered.delete(id);
    const principal = await lookUp(id, hash);
    if (!principal) throw refuse();
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(id, { principal, until: nowMs() + rememberMs });
    touch(principal.keyId);
    return principal;
  };
}
