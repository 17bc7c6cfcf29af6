import { createHash } from 'node:crypto';
import type { Database } from '../engines/database.ts';
import { Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import type { Claim } from './change.ts';

export interface KeyedRequest {
  readonly accountId: string;
  readonly operation: string;
  readonly key: string;
  readonly request: unknown;
}

export type AnswerOnce = ReturnType<typeof createAnswerOnce>;

/**
 * One effect per Idempotency-Key. The answer is stored in the transaction of the effect, and only by the attempt that holds the
 * claim. So a request after a crash finds the effect together with its answer, or neither. If neither, the key is free again once
 * the claim has expired. Failures are not stored: they had no effect.
 */
export function createAnswerOnce(claims: Pick<ClaimStore, 'claim' | 'keep' | 'free'>) {
  return async (
    { accountId, operation, key, request }: KeyedRequest,
    run: (claim: Claim) => Promise<unknown>,
  ): Promise<{ body: string; replayed: boolean }> => {
    const claimed = { accountId, operation, fingerprint: fingerprintOf(request) };
    const claim = { key, attempt: newId('try') };
    const outcome = await claims.claim(claimed, claim);
    switch (outcome.kind) {
      case 'answered':
        return { body: outcome.body, replayed: true };
      case 'running':
        throw new Failure(
          'aborted',
          'A request with this Idempotency-Key is still running. Send the same request again in 1 s.',
          { details: { reason: 'in_progress' }, retryAfterSeconds: 1 },
        );
      case 'other_request':
        throw badKey('invalid_value', 'Belongs to another request. Use a new key for each request.');
      case 'first':
        break;
    }
    try {
      const body = JSON.stringify(await run(claim));
      // If this fails, the caller still gets its answer. A retry then runs again, without an effect.
      await claims.keep(claimed, claim, body).catch(() => undefined);
      return { body, replayed: false };
    } catch (error) {
      await claims.free(claimed, claim).catch(() => undefined);
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

/** The same for equal requests, whatever the order of their fields. */
function fingerprintOf(request: unknown): Buffer {
  return createHash('sha256').update(JSON.stringify(request, sortFields)).digest();
}

function sortFields(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

export interface ClaimedRequest {
  readonly accountId: string;
  readonly operation: string;
  readonly fingerprint: Buffer;
}

export type ClaimOutcome =
  | { readonly kind: 'first' }
  | { readonly kind: 'running' }
  | { readonly kind: 'other_request' }
  | { readonly kind: 'answered'; readonly body: string };

/** Longer than any change takes. If a process dies, its claim blocks the key for this long. */
const claimSeconds = 60;
const forgetBatch = 5_000;
const isExpired = `created_at < now() - interval '24 hours'`;

export type ClaimStore = ReturnType<typeof createClaimStore>;

export function createClaimStore(database: Database) {
  return {
    /** Claims the key if it is new, or if the attempt that had it died without an effect. */
    async claim(request: ClaimedRequest, claim: Claim): Promise<ClaimOutcome> {
      // The row can disappear between the two statements, if the first attempt fails at that moment.
      for (;;) {
        if (await take(database, request, claim)) return { kind: 'first' };
        const outcome = await readOutcome(database, request, claim);
        if (outcome) return outcome;
      }
    },
    /** Stores the answer of a request that changed nothing. A change has already stored its answer. */
    async keep(
      { accountId, operation }: ClaimedRequest,
      { key, attempt }: Claim,
      body: string,
    ): Promise<void> {
      await database.run(
        `update idempotency_keys set answer = $5
         where account_id = $1 and operation = $2 and key = $3 and attempt = $4 and answer is null`,
        [accountId, operation, key, attempt, body],
      );
    },
    /** Frees the key after a failure. Never touches a stored answer. */
    async free({ accountId, operation }: ClaimedRequest, { key, attempt }: Claim): Promise<void> {
      await database.run(
        `delete from idempotency_keys
         where account_id = $1 and operation = $2 and key = $3 and attempt = $4 and answer is null`,
        [accountId, operation, key, attempt],
      );
    },
    forgetSome: () =>
      database.run(
        `delete from idempotency_keys where (account_id, operation, key) in (
           select account_id, operation, key from idempotency_keys where ${isExpired} limit $1)`,
        [forgetBatch],
      ),
  };
}

async function take(database: Database, request: ClaimedRequest, { key, attempt }: Claim): Promise<boolean> {
  const taken = await database.run(
    `insert into idempotency_keys as mine (account_id, operation, key, fingerprint, attempt, lease_until)
     values ($1, $2, $3, $4, $5, now() + $6 * interval '1 second')
     on conflict (account_id, operation, key) do update set
       fingerprint = excluded.fingerprint, attempt = excluded.attempt, lease_until = excluded.lease_until,
       answer = null, created_at = now()
     where (mine.answer is null and mine.lease_until < now()) or mine.${isExpired}`,
    [request.accountId, request.operation, key, request.fingerprint, attempt, claimSeconds],
  );
  return taken === 1;
}

async function readOutcome(
  database: Database,
  request: ClaimedRequest,
  { key }: Claim,
): Promise<ClaimOutcome | null> {
  const row = await database
    .forAccount(request.accountId)
    .one<{ fingerprint: Buffer; answer: string | null }>(
      'select fingerprint, answer from idempotency_keys where account_id = $1 and operation = $2 and key = $3',
      [request.accountId, request.operation, key],
    );
  if (!row) return null;
  if (!row.fingerprint.equals(request.fingerprint)) return { kind: 'other_request' };
  return row.answer === null ? { kind: 'running' } : { kind: 'answered', body: row.answer };
}
