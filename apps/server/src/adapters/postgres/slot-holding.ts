import type { Platform } from '@earshot/contract';
import type { NewRule, NewRuleValue } from '../../rules/rule-store.ts';
import { newId } from '../../runtime/ids.ts';
import { valueHash } from '../../slots/slot.ts';
import type { Sql } from './database.ts';

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

export async function takeSlot(
  sql: Sql,
  rule: Pick<NewRule, 'id' | 'accountId'>,
  value: NewRuleValue,
  hold: Hold = { version: 1, pending: false },
): Promise<Placement> {
  const placement = await lockOrMakeSlot(sql, value);
  if (placement.kind !== 'taken') return placement;
  await sql.run(
    `update slots set
       state = case
         when state = 'failed' then 'wanted'
         when state = 'releasing' and upstream_rule_id is not null then 'registered'
         when state = 'releasing' then 'wanted'
         else state end,
       problem = null, problem_kind = null
     where id = $1`,
    [placement.slotId],
  );
  // A rule that goes back to a value which it is about to release holds that slot still.
  await sql.run(
    `insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, pending)
     values ($1, $2, $3, $4, $5, $6) on conflict (slot_id, rule_id) do nothing`,
    [placement.slotId, rule.id, rule.accountId, value.platform, hold.version, hold.pending],
  );
  return placement;
}

async function lockOrMakeSlot(sql: Sql, value: NewRuleValue): Promise<Placement> {
  const { platform } = value;
  const hash = valueHash(platform, value.translatedValue);
  const lockExisting = () =>
    sql.one<{ id: string }>('select id from slots where platform = $1 and value_hash = $2 for update', [
      platform,
      hash,
    ]);
  const before = await lockExisting();
  if (before) return { kind: 'taken', slotId: before.id };
  // One placement at a time per platform: capacity is counted under this lock.
  const sources = await sql.many<{ id: string; capacity: number }>(
    'select id, capacity from sources where platform = $1 and enabled order by id for update',
    [platform],
  );
  if (sources.length === 0) return { kind: 'no_source', platform };
  const meanwhile = await lockExisting();
  if (meanwhile) return { kind: 'taken', slotId: meanwhile.id };
  const source = await sql.one<{ id: string }>(
    `select id from (
       select id, capacity, (select count(*) from slots where source_id = sources.id) as used,
         exists (select 1 from leases where name = 'registrar:' || sources.id and expires_at > now()) as served
       from sources where platform = $1 and enabled
     ) as room where used < capacity order by served desc, used, id limit 1`,
    [platform],
  );
  if (!source) {
    const capacity = sources.reduce((sum, one) => sum + one.capacity, 0);
    return { kind: 'sources_full', platform, capacity };
  }
  const slotId = newId('slot');
  await sql.run(
    `insert into slots (id, platform, source_id, value, value_hash, state) values ($1, $2, $3, $4, $5, 'wanted')`,
    [slotId, platform, source.id, value.translatedValue, hash],
  );
  return { kind: 'taken', slotId };
}

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
