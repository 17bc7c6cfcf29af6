import type { Database } from '../engines/database.ts';
import { valueHash } from '../slots/slot.ts';
import type { RuleValue } from '../slots/slot-holding.sql.ts';
import type { Basis } from './estimate-volume.ts';

/** The newest estimate of a value is kept for the account: a rule that is created with it is graded by it. */
export async function keepEstimate(
  database: Database,
  { accountId, value, basis }: { accountId: string; value: RuleValue; basis: Basis },
): Promise<void> {
  if (basis.volume === null) return;
  const { mean, p50, p90 } = basis.volume;
  const hash = valueHash(value.platform, value.translatedValue, value.options);
  await database.forAccount(accountId).transaction((sql) =>
    sql.run(
      `insert into estimates as kept (account_id, platform, value_hash, basis, bound, mean, p50, p90, counted, counted_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, case when $9::jsonb is not null then now() end)
       on conflict (account_id, platform, value_hash) do update set made_at = now(), basis = excluded.basis,
         bound = excluded.bound, mean = excluded.mean, p50 = excluded.p50, p90 = excluded.p90,
         counted = coalesce(excluded.counted, kept.counted), counted_at = coalesce(excluded.counted_at, kept.counted_at)`,
      [
        accountId,
        value.platform,
        hash,
        basis.basis,
        basis.bound,
        mean,
        p50,
        p90,
        basis.counted ? JSON.stringify(basis.counted) : null,
      ],
    ),
  );
}

/** What is kept for a day, or for the bound of today. */
export async function forgetEstimates(database: Database): Promise<void> {
  await database.run(`delete from estimates where made_at < now() - interval '1 day'`);
  await database.run(`delete from counts_calls where day < (now() at time zone 'UTC')::date`);
}
