import type { Platform } from '@earshot/contract';
import type { Sql } from '../engines/database.ts';
import type { NewRule, NewRuleValue } from '../rules/rule-store.ts';
import { newId } from '../runtime/ids.ts';
import { valueHash } from './slot.ts';

/*
 * Taking and leaving slots, always inside the caller's transaction. A slot's row is locked before its holders
 * change, and rows are locked in the order of platform and id, so two callers never wait for each other.
 */

export type Placement =
  | { readonly kind: 'taken'; readonly slotId: string }
  | { readonly kind: 'no_source'; readonly platform: Platform }
  | { readonly kind: 'sources_full'; readonly platform: Platform; readonly capacity: number };

/** For which version a slot is held; `pending` until the change that needs it is applied. */
export interface Hold {
  readonly version: number;
  readonly pending: boolean;
}

/** Takes the slot of a value, or makes it, and writes it down as the slot of the rule's version. */
export async function takeSlot(
  sql: Sql,
  rule: Pick<NewRule, 'id' | 'accountId'>,
  value: NewRuleValue,
  hold: Hold = { version: 1, pending: false },
): Promise<Placement> {
  const { platform, translatedValue } = value;
  const hash = valueHash(platform, translatedValue);
  const holding = [
    rule.id,
    rule.accountId,
    platform,
    hold.version,
    hold.pending,
    value.value,
    translatedValue,
  ];
  const takeExisting = async (): Promise<Placement | null> => {
    const slotId = await lockExisting(sql, platform, hash);
    if (slotId === null) return null;
    await sql.prepared(holdExisting, [...holding, slotId]);
    return { kind: 'taken', slotId };
  };
  const before = await takeExisting();
  if (before) return before;
  // One placement at a time per platform: capacity is looked at under this lock, which is held to the commit.
  const sources = await sql.prepared<{ capacity: number }>(
    'select source_capacity as capacity from lock_sources($1)',
    [platform],
  );
  if (sources.length === 0) return { kind: 'no_source', platform };
  const [made] = await sql.prepared<{ id: string }>(holdNew, [...holding, newId('slot'), hash]);
  if (made) return { kind: 'taken', slotId: made.id };
  // Somebody was faster, or there is no room.
  const capacity = sources.reduce((sum, one) => sum + one.capacity, 0);
  return (await takeExisting()) ?? { kind: 'sources_full', platform, capacity };
}

/** What is held needs no change of its row, unless it was given up or has a problem that is to be tried anew. */
async function lockExisting(sql: Sql, platform: Platform, hash: Buffer): Promise<string | null> {
  const [slot] = await sql.prepared<{ id: string; settled: boolean }>(
    `select id, state not in ('failed', 'releasing') and problem is null as settled
     from slots where platform = $1 and value_hash = $2 for update`,
    [platform, hash],
  );
  if (slot && !slot.settled) {
    await sql.run(
      `update slots set
         state = case
           when state = 'failed' then 'wanted'
           when state = 'releasing' and upstream_rule_id is not null then 'registered'
           when state = 'releasing' then 'wanted'
           else state end,
         problem = null, problem_kind = null
       where id = $1`,
      [slot.id],
    );
  }
  return slot?.id ?? null;
}

/**
 * Holder and version of `slot`, the statement's first part. A rule that goes back to a value which it is about to
 * release holds that slot still; one that is resumed has its version already.
 */
const holdSlot = `, holder as (
    insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, pending)
    select id, $1, $2, $3, $4, $5 from slot on conflict (slot_id, rule_id) do nothing
  ), version as (
    insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id)
    select $1, $4, $3, $6, $7, id from slot
    on conflict (rule_id, version, platform) do update set slot_id = excluded.slot_id
  ) select id from slot`;

const holdExisting = `with slot as (select $8::text as id) ${holdSlot}`;

/** On the source with the fewest slots, if one has room; one that nobody serves at the moment comes last. */
const holdNew = `with room as (
    select id, slots,
      exists (select 1 from leases where name = 'registrar:' || sources.id and expires_at > now()) as served
    from sources where platform = $3 and enabled and slots < capacity
  ), slot as (
    insert into slots (id, platform, source_id, value, value_hash, state)
    select $8, $3, id, $7, $9, 'wanted' from room order by served desc, slots, id limit 1
    on conflict (platform, value_hash) do nothing
    returning id
  ) ${holdSlot}`;

/** Leaves all slots of the rule, or those that are named; returns them. */
export async function leaveSlots(
  sql: Sql,
  ruleId: string,
  only: readonly string[] | null = null,
): Promise<string[]> {
  const slots = await sql.many<{ id: string }>(
    `select slots.id from slots join slot_holders on slot_holders.slot_id = slots.id
     where slot_holders.rule_id = $1 and ($2::text[] is null or slots.id = any($2))
     order by slots.platform, slots.id for update of slots`,
    [ruleId, only],
  );
  const ids = slots.map((slot) => slot.id);
  await sql.run('delete from slot_holders where rule_id = $1 and slot_id = any($2)', [ruleId, ids]);
  const unheld = 'not exists (select 1 from slot_holders where slot_id = slots.id)';
  await sql.run(`delete from slots where id = any($1) and state = 'failed' and ${unheld}`, [ids]);
  // A wanted slot may still bear the id of a rule that vanished: whoever takes it next must not believe in it.
  await sql.run(
    `update slots set state = 'releasing',
       upstream_rule_id = case when state = 'registered' then upstream_rule_id end
     where id = any($1) and state in ('wanted', 'registered') and ${unheld}`,
    [ids],
  );
  return ids;
}
