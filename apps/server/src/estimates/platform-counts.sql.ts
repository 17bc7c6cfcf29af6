import type { Database } from '../engines/database.ts';
import { valueHash } from '../slots/slot.ts';
import type { RuleValue } from '../slots/slot-holding.sql.ts';
import type { HourlySeries } from './estimate.ts';

interface CountedQuery {
  readonly accountId: string;
  readonly value: RuleValue;
}

/** Returns the counts that the same account requested less than an hour ago. */
export async function findCounts(
  database: Database,
  { accountId, value }: CountedQuery,
): Promise<HourlySeries | null> {
  const row = await database.forAccount(accountId).one<{ counts: HourlySeries }>(
    `select counts from platform_counts where account_id = $1 and platform = $2 and value_hash = $3
       and counted_at > now() - interval '1 hour'`,
    [accountId, value.platform, valueHash(value.platform, value.translatedValue, value.options)],
  );
  return row?.counts ?? null;
}

/** Keeps the newest counts of a query for its account. */
export async function keepCounts(
  database: Database,
  { accountId, value }: CountedQuery,
  counts: HourlySeries,
): Promise<void> {
  const hash = valueHash(value.platform, value.translatedValue, value.options);
  await database.forAccount(accountId).transaction((sql) =>
    sql.run(
      `insert into platform_counts (account_id, platform, value_hash, counts) values ($1, $2, $3, $4)
       on conflict (account_id, platform, value_hash) do update set counts = excluded.counts, counted_at = now()`,
      [accountId, value.platform, hash, JSON.stringify(counts)],
    ),
  );
}

/** Deletes counts that are too old to be used, and the calls of past days. */
export async function forgetCounts(database: Database): Promise<void> {
  await database.run(`delete from platform_counts where counted_at < now() - interval '1 hour'`);
  await database.run(`delete from counts_calls where day < (now() at time zone 'UTC')::date`);
}
