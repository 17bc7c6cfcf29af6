import type { Sql } from '../engines/database.ts';

/** X says that most rules are effective within this time: until then the old source still serves. */
const activeAfterSeconds = 20;

interface Target {
  id: string;
  room: number;
}

const roomOfSource = 'greatest(0, capacity - (select count(*) from slots where source_id = sources.id))';

/**
 * Sources that can take slots of another one, under the lock under which new slots are placed: capacity is exact. All
 * of the platform are locked, in the same order, so that two which give to each other do not block each other.
 */
async function lockTargets(sql: Sql, sourceId: string): Promise<Target[]> {
  const platform = 'platform = (select platform from sources where id = $1)';
  const others = `${platform} and enabled and id <> $1`;
  await sql.run(`select 1 from sources where ${platform} order by id for update`, [sourceId]);
  return await sql.many<Target>(
    `select id, ${roomOfSource} as room
     from sources where ${others}
     order by exists (select 1 from leases where name = 'registrar:' || sources.id and expires_at > now()) desc, id`,
    [sourceId],
  );
}

function roomOf(targets: readonly Target[]): number {
  return targets.reduce((sum, target) => sum + target.room, 0);
}

/** The rows are the new sources' from now on. Whoever served a slot that is not registered goes on serving it. */
async function give(sql: Sql, slotIds: readonly string[], targets: readonly Target[]): Promise<void> {
  let rest = slotIds;
  for (const { id, room } of targets) {
    await sql.run(
      `update slots set source_id = $2, state = 'wanted', upstream_rule_id = null, foreign_rule = false,
         moved_from = case when state = 'registered' or moved_from is null then source_id else moved_from end,
         problem = null, problem_kind = null
       where id = any($1)`,
      [rest.slice(0, room), id],
    );
    rest = rest.slice(room);
  }
}

/**
 * Gives the slots of a source that is being drained to sources with room. The old one keeps the upstream rules, which
 * bear the slot's tag, until the new one serves them; so a slot that has just arrived stays until its own rule does.
 */
export async function moveAway(sql: Sql, sourceId: string, limit: number): Promise<number> {
  const draining = await sql.one('select 1 from sources where id = $1 and not enabled', [sourceId]);
  if (!draining) return 0;
  const targets = await lockTargets(sql, sourceId);
  // Somebody who holds a slot's row is left alone: its turn comes next time.
  const slots = await sql.many<{ id: string }>(
    `select id from slots where source_id = $1 and state in ('wanted', 'registered', 'failed')
       and not (state = 'registered' and moved_from is not null
         and confirmed_at > now() - $3 * interval '1 second')
     order by created_at limit $2 for update skip locked`,
    [sourceId, Math.min(limit, roomOf(targets)), activeAfterSeconds],
  );
  await give(
    sql,
    slots.map(({ id }) => id),
    targets,
  );
  return slots.length;
}

/** Gives wanted slots that their source does not take to others; `left` are those that nobody has room for. */
export async function moveToRoom(
  sql: Sql,
  sourceId: string,
  slotIds: readonly string[],
): Promise<{ moved: number; left: string[] }> {
  const targets = await lockTargets(sql, sourceId);
  // Who is skipped stays wanted here, and comes back.
  const slots = await sql.many<{ id: string }>(
    `select id from slots where id = any($1) and source_id = $2 and state = 'wanted'
     order by created_at for update skip locked`,
    [slotIds, sourceId],
  );
  const ids = slots.map(({ id }) => id);
  const room = roomOf(targets);
  await give(sql, ids.slice(0, room), targets);
  const kept = await giveToDrained(sql, sourceId, ids.slice(room));
  const left = ids.slice(room).filter((id) => !kept.includes(id));
  return { moved: ids.length - left.length, left };
}

/**
 * The last resort for slots on which rules rely and which nobody serves: a source that is being drained, and is still
 * there. It gives them away again when there is room.
 */
async function giveToDrained(sql: Sql, sourceId: string, slotIds: readonly string[]): Promise<string[]> {
  const slots = await sql.many<{ id: string }>(
    `select id from slots where id = any($1) and registered_at is not null and moved_from is null
     order by created_at`,
    [slotIds],
  );
  const targets = await sql.many<Target>(
    `select sources.id, ${roomOfSource} as room from sources
     join leases on leases.name = 'registrar:' || sources.id and leases.expires_at > now()
     where platform = (select platform from sources where id = $1) and not enabled and sources.id <> $1
     order by sources.id`,
    [sourceId],
  );
  const given = slots.map(({ id }) => id).slice(0, roomOf(targets));
  await give(sql, given, targets);
  return given;
}

/**
 * The former source does not have the rules of these slots any more, and their new one has not registered them: a gap
 * since the former source was last seen with them. What nobody else has room for, it takes back.
 */
export async function takeBack(sql: Sql, sourceId: string, slotIds: readonly string[]): Promise<void> {
  if (slotIds.length === 0) return;
  await sql.run(
    `insert into slot_gaps (slot_id, from_at)
     select slots.id, greatest(slots.registered_at, slots.confirmed_at, sources.rules_seen_at)
     from slots join sources on sources.id = $2
     where slots.id = any($1) and slots.state in ('wanted', 'failed') and slots.registered_at is not null
       and not exists (select 1 from slot_gaps where slot_id = slots.id and to_at is null)`,
    [slotIds, sourceId],
  );
  await lockTargets(sql, sourceId);
  await sql.run(
    `update slots set source_id = $2, state = 'wanted', moved_from = null, problem = null, problem_kind = null
     where id in (
       select id from slots
       where id = any($1) and state = 'failed' and problem_kind = 'full' and registered_at is not null
       order by created_at
       limit (select ${roomOfSource} from sources where id = $2)
       for update skip locked)`,
    [slotIds, sourceId],
  );
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

/** A slot that was given back to where it came from bears its own source as the former one. */
export async function cameBack(sql: Sql, sourceId: string): Promise<boolean> {
  const row = await sql.one(
    `select 1 from slots where source_id = $1 and moved_from = $1 and state = 'wanted' limit 1`,
    [sourceId],
  );
  return row !== null;
}

export async function recordCompared(sql: Sql, slotIds: readonly string[]): Promise<void> {
  if (slotIds.length === 0) return;
  await sql.run('update slots set moved_from = null where id = any($1) and moved_from = source_id', [
    slotIds,
  ]);
}
