import type { Platform, Removal } from '@earshot/contract';
import type { Database } from '../engines/database.ts';
import type { ItemName } from '../matching/match-store.sql.ts';

/**
 * From here on nothing with these names is stored, and everything that is already stored is visible to the next statement. Returns the
 * time up to which an author's items are removed.
 */
export async function recordTombstones(
  database: Database,
  names: readonly ItemName[],
  { on, reason }: { on: readonly Platform[]; reason: Removal['reason'] },
): Promise<Date> {
  return await database.transaction(async (sql) => {
    await sql.run('lock table tombstones in exclusive mode');
    const row = await sql.one<{ at: Date }>(
      `with now as materialized (select clock_timestamp() as at), recorded as (
         insert into tombstones (platform, kind, value, reason, at)
         select platform, kind, value, $4, now.at
         from now, unnest($1::text[]) as platform, unnest($2::text[], $3::text[]) as named (kind, value)
         on conflict (platform, kind, value) do update set reason = excluded.reason, at = excluded.at
       )
       select at from now`,
      [on, names.map(({ kind }) => kind), names.map(({ value }) => value), reason],
    );
    return row?.at ?? new Date();
  });
}
