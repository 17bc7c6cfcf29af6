import type { Sql } from './database.ts';

/** X says that most rules are effective within this time (x.md §3.6): until then the old source still serves. */
const activeAfterSeconds = 20;

/**
 * Gives the slots of a source that is being drained to sources with room. The rows are the new source's from now on;
 * the old one keeps the upstream rules, which bear the slot's tag, until the new one serves them.
 */
export async function moveAway(sql: Sql, sourceId: string, limit: number): Promise<number> {
  const source = await sql.one<{ platform: string }>(
    'select platform from sources where id = $1 and not enabled',
    [sourceId],
  );
  if (!source) return 0;
  // The same lock under which new slots are placed: capacity is exact.
  await sql.run('select 1 from sources where platform = $1 and enabled order by id for update', [
    source.platform,
  ]);
  const targets = await sql.many<{ id: string; room: number }>(
    `select id, capacity - (select count(*) from slots where source_id = sources.id) as room
     from sources where platform = $1 and enabled order by id`,
    [source.platform],
  );
  const room = targets.reduce((sum, target) => sum + Math.max(0, target.room), 0);
  // Somebody who holds a slot's row is left alone: its turn comes next time.
  const slots = await sql.many<{ id: string }>(
    `select id from slots where source_id = $1 and state in ('wanted', 'registered', 'failed')
     order by created_at limit $2 for update skip locked`,
    [sourceId, Math.min(limit, room)],
  );
  let rest = slots.map((slot) => slot.id);
  for (const target of targets) {
    const ids = rest.slice(0, Math.max(0, target.room));
    rest = rest.slice(ids.length);
    await sql.run(
      `update slots set source_id = $2, moved_from = $3, state = 'wanted', upstream_rule_id = null,
         foreign_rule = false, problem = null, problem_kind = null
       where id = any($1)`,
      [ids, target.id, sourceId],
    );
  }
  return slots.length;
}

export async function movedFrom(sql: Sql, sourceId: string): Promise<string[]> {
  const rows = await sql.many<{ id: string }>(
    `select id from slots where moved_from = $1 and source_id <> $1 and (
       state in ('wanted', 'failed')
       or (state = 'registered' and confirmed_at > now() - $2 * interval '1 second'))`,
    [sourceId, activeAfterSeconds],
  );
  return rows.map((row) => row.id);
}
