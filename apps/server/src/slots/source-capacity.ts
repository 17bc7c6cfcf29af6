import type { Sql } from '../engines/database.ts';

/** A limit that only showed in a refusal may have been raised since: after this time it is tried again. */
const forgottenAfterMinutes = 60;

/** What is configured stays the upper bound. */
export async function recordCapacity(sql: Sql, sourceId: string, learnt: number | null): Promise<void> {
  await sql.run(
    learnt === null
      ? `update sources set learnt_capacity = null, learnt_at = null, capacity = configured_capacity
         where id = $1 and learnt_at < now() - $2 * interval '1 minute'`
      : `update sources set learnt_capacity = $2, learnt_at = now(), capacity = least(configured_capacity, $2)
         where id = $1`,
    [sourceId, learnt ?? forgottenAfterMinutes],
  );
}
