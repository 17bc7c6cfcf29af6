import type { Sql } from '../engines/database.ts';
import { stateAfter, statesWith } from './slot.ts';

/*
 * A slot moves to another source when its own is drained or full. The former source keeps its upstream rule until the new one has
 * registered the slot and the upstream's delay for new rules has passed, so that nothing is missed.
 */

interface Target {
  id: string;
  room: number;
}

const roomOfSource = 'greatest(0, capacity - (select count(*) from slots where source_id = sources.id))';

/**
 * Sources that can take slots of another one, locked like for the placement of new slots, so that their room is exact. All sources of the
 * platform are locked in the same order, so that two sources that move slots to each other do not deadlock.
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

/** SQL: whether the present source has the upstream rule. */
const isServed = `(state = 'registered' or moved_from is null)`;

/**
 * The slots belong to the new sources from now on. `moved_from` is the source that has their upstream rule, `moved_rule_id`. If a slot
 * was not registered yet, that is not the previous source, but the one before it. Events name the rule as long as it exists.
 */
async function assignSlots(sql: Sql, slotIds: readonly string[], targets: readonly Target[]): Promise<void> {
  let rest = slotIds;
  for (const { id, room } of targets) {
    await sql.run(
      `update slots set source_id = $2, state = ${stateAfter('moved')}, upstream_rule_id = null, foreign_rule = false,
         moved_from = case when ${isServed} then source_id else moved_from end,
         moved_rule_id = case when ${isServed} then upstream_rule_id else moved_rule_id end,
         problem = null, problem_kind = null
       where id = any($1)`,
      [rest.slice(0, room), id],
    );
    rest = rest.slice(room);
  }
}

/**
 * Moves slots of a draining source to sources with room; returns how many. A slot that arrived less than `ruleDelayMs` ago stays, because
 * its former source still serves it.
 */
export async function moveAway(
  sql: Sql,
  { sourceId, limit, ruleDelayMs }: { sourceId: string; limit: number; ruleDelayMs: number },
): Promise<number> {
  const draining = await sql.one('select 1 from sources where id = $1 and not enabled', [sourceId]);
  if (!draining) return 0;
  const targets = await lockTargets(sql, sourceId);
  // Rows that another transaction has locked are left for the next time.
  const slots = await sql.many<{ id: string }>(
    `select id from slots where source_id = $1 and state in ${statesWith('moved', 'changes')}
       and not (state = 'registered' and moved_from is not null
         and confirmed_at > now() - $3 * interval '1 ms')
     order by created_at limit $2 for update skip locked`,
    [sourceId, Math.min(limit, roomOf(targets)), ruleDelayMs],
  );
  await assignSlots(
    sql,
    slots.map(({ id }) => id),
    targets,
  );
  return slots.length;
}

/** Slots of a draining source that its upstream would have to remove. */
export async function releasedOnDraining(sql: Sql, sourceId: string): Promise<string[]> {
  const rows = await sql.many<{ id: string }>(
    `select slots.id from slots join sources on sources.id = source_id
     where source_id = $1 and not enabled and slots.state in ('releasing', 'deleting')`,
    [sourceId],
  );
  return rows.map(({ id }) => id);
}

/** Moves wanted slots for which their source has no room to others; `left` are those for which no source has room. */
export async function moveToRoom(
  sql: Sql,
  sourceId: string,
  slotIds: readonly string[],
): Promise<{ moved: number; left: string[] }> {
  const targets = await lockTargets(sql, sourceId);
  // A locked row is skipped: it stays wanted here, is refused again, and is handled then.
  const slots = await sql.many<{ id: string }>(
    `select id from slots where id = any($1) and source_id = $2 and state = 'wanted'
     order by created_at for update skip locked`,
    [slotIds, sourceId],
  );
  const ids = slots.map(({ id }) => id);
  const room = roomOf(targets);
  await assignSlots(sql, ids.slice(0, room), targets);
  const kept = await assignToDraining(sql, sourceId, ids.slice(room));
  const left = ids.slice(room).filter((id) => !kept.includes(id));
  return { moved: ids.length - left.length, left };
}

/**
 * The last resort for slots that were registered before and have no source with room: a draining source that still has a registrar. It
 * moves them away again when there is room.
 */
async function assignToDraining(sql: Sql, sourceId: string, slotIds: readonly string[]): Promise<string[]> {
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
  await assignSlots(sql, given, targets);
  return given;
}

/**
 * The former source has lost the rules of these slots before their new source registered them. A gap begins when the former source was
 * last seen with them. It takes back those for which no other source has room.
 */
export async function takeBack(sql: Sql, sourceId: string, slotIds: readonly string[]): Promise<void> {
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
    `update slots set source_id = $2, state = ${stateAfter('moved')}, moved_from = null, problem = null, problem_kind = null
     where id in (
       select id from slots
       where id = any($1) and state = 'failed' and problem_kind = 'full' and registered_at is not null
       order by created_at
       limit (select ${roomOfSource} from sources where id = $2)
       for update skip locked)`,
    [slotIds, sourceId],
  );
}

/** Slots that were moved away from the source and are not served by their new one yet. */
export async function movedFrom(sql: Sql, sourceId: string, ruleDelayMs: number): Promise<string[]> {
  const rows = await sql.many<{ id: string }>(
    `select id from slots where moved_from = $1 and source_id <> $1 and (
       state in ('wanted', 'failed')
       or (state = 'registered' and confirmed_at > now() - $2 * interval '1 ms'))`,
    [sourceId, ruleDelayMs],
  );
  return rows.map((row) => row.id);
}

/**
 * Whether slots were moved away and returned: `moved_from` is then the source itself. It may still have their rules, so it lists them
 * before it adds them again.
 */
export async function hasReturned(sql: Sql, sourceId: string): Promise<boolean> {
  const row = await sql.one(
    `select 1 from slots where source_id = $1 and moved_from = $1 and state = 'wanted' limit 1`,
    [sourceId],
  );
  return row !== null;
}

/**
 * Runs before slots become registered on their new source: their former source serves them until the new rule is effective. The trigger
 * `services_follow_slots` writes the other beginnings and ends of a service.
 */
export async function endFormerServices(
  sql: Sql,
  slotIds: readonly string[],
  ruleDelayMs: number,
): Promise<void> {
  await sql.run(
    `update slot_services set to_at = now() + $2 * interval '1 ms'
     from slots
     where slots.id = any($1) and slots.state in ${statesWith('registered', 'changes')}
       and slot_services.slot_id = slots.id and slot_services.source_id <> slots.source_id
       and slot_services.to_at is null`,
    [slotIds, ruleDelayMs],
  );
}

/** These wanted slots were compared with the upstream's list: they need no further comparison. */
export async function recordCompared(sql: Sql, slotIds: readonly string[]): Promise<void> {
  await sql.run('update slots set moved_from = null where id = any($1) and moved_from = source_id', [
    slotIds,
  ]);
}
