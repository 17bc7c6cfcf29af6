import type { Database } from '../engines/database.ts';
import type { ClaimAsked, ClaimOutcome, ClaimStore } from './answer-once.ts';
import type { Claim } from './change.ts';

/** Longer than any change takes. A process that died with a claim blocks its key for this long. */
const leaseSeconds = 60;
const forgetBatch = 5_000;
const tooOld = `created_at < now() - interval '24 hours'`;

export function createClaimStore(database: Database): ClaimStore & { forgetSome(): Promise<number> } {
  return {
    async claim(asked, claim) {
      // The row can go between the two statements, when the first attempt fails just then.
      for (;;) {
        if (await take(database, asked, claim)) return { kind: 'first' };
        const outcome = await look(database, asked, claim);
        if (outcome) return outcome;
      }
    },
    async keep({ accountId, operation }, { key, attempt }, body) {
      await database.run(
        `update idempotency_keys set answer = $5
         where account_id = $1 and operation = $2 and key = $3 and attempt = $4 and answer is null`,
        [accountId, operation, key, attempt, body],
      );
    },
    async free({ accountId, operation }, { key, attempt }) {
      await database.run(
        `delete from idempotency_keys
         where account_id = $1 and operation = $2 and key = $3 and attempt = $4 and answer is null`,
        [accountId, operation, key, attempt],
      );
    },
    forgetSome: () =>
      database.run(
        `delete from idempotency_keys where (account_id, operation, key) in (
           select account_id, operation, key from idempotency_keys where ${tooOld} limit $1)`,
        [forgetBatch],
      ),
  };
}

async function take(database: Database, asked: ClaimAsked, { key, attempt }: Claim): Promise<boolean> {
  const taken = await database.run(
    `insert into idempotency_keys as mine (account_id, operation, key, fingerprint, attempt, lease_until)
     values ($1, $2, $3, $4, $5, now() + $6 * interval '1 second')
     on conflict (account_id, operation, key) do update set
       fingerprint = excluded.fingerprint, attempt = excluded.attempt, lease_until = excluded.lease_until,
       answer = null, created_at = now()
     where (mine.answer is null and mine.lease_until < now()) or mine.${tooOld}`,
    [asked.accountId, asked.operation, key, asked.fingerprint, attempt, leaseSeconds],
  );
  return taken === 1;
}

async function look(database: Database, asked: ClaimAsked, { key }: Claim): Promise<ClaimOutcome | null> {
  const row = await database
    .forAccount(asked.accountId)
    .one<{ fingerprint: Buffer; answer: string | null }>(
      'select fingerprint, answer from idempotency_keys where account_id = $1 and operation = $2 and key = $3',
      [asked.accountId, asked.operation, key],
    );
  if (!row) return null;
  if (!row.fingerprint.equals(asked.fingerprint)) return { kind: 'other_request' };
  return row.answer === null ? { kind: 'running' } : { kind: 'answered', body: row.answer };
}
