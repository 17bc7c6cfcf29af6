import { createHash } from 'node:crypto';
import { isWellFormedKey } from '@earshot/contract';
import { Failure } from '../runtime/failure.ts';
import type { KeyGuesses } from './key-guesses.ts';
import type { Principal } from './principal.ts';

export interface KeyStore {
  /** Only a key that is neither revoked nor expired has a principal. */
  principalOf(keyHash: Buffer): Promise<Principal | null>;
  touch(keyId: string): Promise<void>;
}

export type Authenticate = (authorization: string | undefined, address: string) => Promise<Principal>;

export interface AuthenticateOptions {
  readonly store: KeyStore;
  readonly guesses: KeyGuesses;
  readonly nowMs: () => number;
}

/** A revoked key works at most this long on a node that has just seen it (promise: 5 s). */
const rememberMs = 3_000;
/** A key that does not work never will: new ones are random, and a revoked one stays so. */
const unknownForMs = 60_000;
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

function tooManyGuesses(waitSeconds: number): Failure {
  return new Failure(
    'resource_exhausted',
    `Too many requests with unknown API keys come from your address: wait ${waitSeconds} s.`,
    { retryAfterSeconds: waitSeconds },
  );
}

export function createAuthenticate({ store, guesses, nowMs }: AuthenticateOptions): Authenticate {
  const remembered = new Map<string, Remembered>();
  const unknownUntil = new Map<string, number>();
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

  /** The longest unknown goes first. */
  const noteUnknown = (id: string) => {
    const [oldest] = unknownUntil.size >= rememberedMax ? unknownUntil.keys() : [];
    if (oldest !== undefined) unknownUntil.delete(oldest);
    unknownUntil.set(id, nowMs() + unknownForMs);
  };

  /** A key that was valid a moment ago is no guess: callers of one address do not suffer from a stranger there. */
  const guess = async (id: string, hash: Buffer, address: string) => {
    const waitSeconds = guesses.waitSeconds(address);
    if (waitSeconds !== null) throw tooManyGuesses(waitSeconds);
    const principal = await lookUp(id, hash);
    if (!principal) guesses.failed(address);
    return principal;
  };

  return async (authorization, address) => {
    const key = authorization?.startsWith('Bearer ') ? authorization.slice('Bearer '.length) : '';
    if (!isWellFormedKey(key)) throw refuse();
    const hash = createHash('sha256').update(key).digest();
    const id = hash.toString('base64');
    const known = remembered.get(id);
    if (known && known.until > nowMs()) return known.principal;
    if ((unknownUntil.get(id) ?? Number.NEGATIVE_INFINITY) > nowMs()) throw refuse();
    unknownUntil.delete(id);
    const principal = known ? await lookUp(id, hash) : await guess(id, hash, address);
    remembered.delete(id);
    if (!principal) {
      noteUnknown(id);
      throw refuse();
    }
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(id, { principal, until: nowMs() + rememberMs });
    touch(principal.keyId);
    return principal;
  };
}
