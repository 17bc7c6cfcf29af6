import type { Sql } from '../engines/database.ts';
import { Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';

/** A requested change. It is recorded in the same transaction as the change itself. */
export interface Change {
  readonly accountId: string;
  /** Id of the requesting key, or `operator`. */
  readonly actor: string;
  readonly operation: string;
  readonly requestId: string | null;
  /** Null when the caller sent no Idempotency-Key. */
  readonly claim: Claim | null;
}

/** A change that Earshot makes automatically. */
export function byEarshot(accountId: string, operation: string): Change {
  return { accountId, actor: 'earshot', operation, requestId: null, claim: null };
}

/** A change made with `earshot admin`. */
export function byOperator(accountId: string, operation: string): Change {
  return { accountId, actor: 'operator', operation, requestId: null, claim: null };
}

/** The right to answer for an Idempotency-Key: only the latest attempt has it. */
export interface Claim {
  readonly key: string;
  readonly attempt: string;
}

export interface ChangeRecord {
  readonly targetId: string;
  readonly before: object | null;
  readonly after: object | null;
  /** The answer, which a retry with the same Idempotency-Key gets again. No secrets: it is stored. */
  readonly answer: object;
}

/**
 * Writes the audit entry and the answer for a retry, in the transaction of the change. Throws, and so rolls back the change,
 * if another attempt has taken over the Idempotency-Key because this one seemed dead.
 */
export async function recordChange(sql: Sql, change: Change, record: ChangeRecord): Promise<void> {
  const { accountId, actor, operation, requestId } = change;
  await sql.prepared(
    `insert into audit (id, account_id, actor, operation, target_id, before, after, request_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [newId('aud'), accountId, actor, operation, record.targetId, record.before, record.after, requestId],
  );
  await keepAnswer(sql, change, record.answer);
}

/** The second half of `recordChange`, for a statement that has already written the audit entry. */
export async function keepAnswer(sql: Sql, change: Change, answer: object): Promise<void> {
  const { accountId, operation, claim } = change;
  if (claim === null) return;
  const kept = await sql.run(
    `update idempotency_keys set answer = $5
     where account_id = $1 and operation = $2 and key = $3 and attempt = $4 and answer is null`,
    [accountId, operation, claim.key, claim.attempt, JSON.stringify(answer)],
  );
  if (kept > 0) return;
  throw new Failure(
    'aborted',
    'A retry with the same Idempotency-Key replaced this request. Send it again to get the answer.',
    { details: { reason: 'replaced' }, retryAfterSeconds: 1 },
  );
}

/** Locks the account while names and counts are checked, so that two requests cannot both create the last one that is allowed. */
export async function lockAccount(sql: Sql, accountId: string): Promise<void> {
  await sql.one('select 1 from accounts where id = $1 for update', [accountId]);
}
