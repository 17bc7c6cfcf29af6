import { createHash } from 'node:crypto';
import { Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import type { Claim } from './change.ts';

export interface ClaimStore {
  /** Takes the key for this attempt when it is new, or when the attempt that had it died without an effect. */
  claim(asked: ClaimAsked, claim: Claim): Promise<ClaimOutcome>;
  /** Keeps the answer of a request that changed nothing; one that did has its answer stored already. */
  keep(asked: ClaimAsked, claim: Claim, body: string): Promise<void>;
  /** Gives the key back after a failure. Never touches a stored answer. */
  free(asked: ClaimAsked, claim: Claim): Promise<void>;
}

export interface ClaimAsked {
  readonly accountId: string;
  readonly operation: string;
  readonly fingerprint: Buffer;
}

export type ClaimOutcome =
  | { readonly kind: 'first' }
  | { readonly kind: 'running' }
  | { readonly kind: 'other_request' }
  | { readonly kind: 'answered'; readonly body: string };

export interface KeyedRequest {
  readonly accountId: string;
  readonly operation: string;
  readonly key: string;
  readonly request: unknown;
}

export interface OnceAnswer {
  readonly body: string;
  readonly replayed: boolean;
}

export type AnswerOnce = (
  asked: KeyedRequest,
  run: (claim: Claim) => Promise<unknown>,
) => Promise<OnceAnswer>;

/**
 * One effect for one Idempotency-Key. The answer is stored in the transaction of the effect, and only by the
 * attempt that holds the claim. So whoever comes after a crash finds the effect together with its answer, or
 * neither, and then a key that is free once the claim has run out. Failures are not remembered: they did nothing.
 */
export function createAnswerOnce(store: ClaimStore): AnswerOnce {
  return async ({ accountId, operation, key, request }, run) => {
    const asked = { accountId, operation, fingerprint: fingerprintOf(request) };
    const claim = { key, attempt: newId('try') };
    const outcome = await store.claim(asked, claim);
    switch (outcome.kind) {
      case 'answered':
        return { body: outcome.body, replayed: true };
      case 'running':
        throw new Failure(
          'aborted',
          'A request with this Idempotency-Key is still running: send the same request again in a moment.',
          { retryAfterSeconds: 1 },
        );
      case 'other_request':
        throw badKey('invalid_value', 'Belongs to another request: use a new key for each request.');
      case 'first':
        break;
    }
    try {
      const body = JSON.stringify(await run(claim));
      // Whoever cannot keep it has answered all the same; a repeated request then runs again, without an effect.
      await store.keep(asked, claim, body).catch(() => undefined);
      return { body, replayed: false };
    } catch (error) {
      await store.free(asked, claim).catch(() => undefined);
      throw error;
    }
  };
}

const keyLengthMax = 255;

/** Throws for a key that is empty or too long. */
export function readIdempotencyKey(sent: string | string[] | undefined): string | null {
  if (sent === undefined) return null;
  const key = String(sent);
  if (key === '') throw badKey('too_short', 'Must not be empty.');
  if (key.length > keyLengthMax) {
    throw badKey('too_long', `Must have at most ${keyLengthMax} characters; it has ${key.length}.`);
  }
  return key;
}

function badKey(code: string, message: string): Failure {
  const field = 'Idempotency-Key';
  return new Failure('invalid_argument', `${field}: ${message}`, {
    details: { violations: [{ field, code, message }] },
  });
}

/** The same for the same request, in whatever order its fields were sent. */
function fingerprintOf(request: unknown): Buffer {
  return createHash('sha256').update(JSON.stringify(request, sortFields)).digest();
}

function sortFields(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
