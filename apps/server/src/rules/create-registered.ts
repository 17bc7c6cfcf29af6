import type { AnswerOf } from '@earshot/contract';
import { keepAnswer } from '../accounts/change.ts';
import type { Database, Sql } from '../engines/database.ts';
import { newId } from '../runtime/ids.ts';
import { type HeldSlotRow, heldSlotColumns, toHeldSlot } from '../slots/held-slots.ts';
import { valueHash } from '../slots/slot.ts';
import { comparable, equivalentRule } from './equivalent-rule.ts';
import { asCodeColumns } from './managed-keys.ts';
import type { NewRule, WhenRegistered } from './rule-store.ts';

/**
 * The common case in as few round trips as it can be: all slots are registered and listened to, so the rule is active
 * at once. `created` is null when that is not so, and then nothing was written.
 */
export async function createRegistered(
  database: Database,
  rule: NewRule,
  whenRegistered: WhenRegistered,
): Promise<{ created: AnswerOf<'CreateRule'> | null; equivalentRuleId: string | null }> {
  const create = async (sql: Sql) => {
    const rows = await writeRegistered(sql, rule, whenRegistered);
    const equivalentRuleId = rows[0]?.equivalent_rule_id ?? null;
    const written = rows.filter((row): row is WrittenRow & HeldSlotRow => row.platform !== null);
    if (written.length === 0) return { created: null, equivalentRuleId };
    const created = whenRegistered.answer(written.map(toHeldSlot), equivalentRuleId);
    await keepAnswer(sql, whenRegistered.change, created);
    return { created, equivalentRuleId };
  };
  // One statement is a transaction by itself; the answer for an Idempotency-Key is a second one.
  return whenRegistered.change.claim === null
    ? await create(database)
    : await database.forAccount(rule.accountId).transaction(create);
}

/** One row per slot; when nothing was written a single one without a slot. */
interface WrittenRow extends Omit<HeldSlotRow, 'platform'> {
  platform: HeldSlotRow['platform'] | null;
  equivalent_rule_id: string | null;
}

/**
 * Nothing is counted or locked unless all slots are there. Nothing of a slot's row changes, so the lock is a shared
 * one: it keeps the last holder from leaving, and those who take the same slot do not wait for each other. The account
 * is locked (by the count) before any slot, as everywhere: locks come after the sort, and the sort after the count.
 */
const writeStatement = `
  with asked as (
    select * from unnest($6::text[], $7::bytea[], $8::text[], $9::text[])
      as asked (platform, value_hash, written, translated)
  ), counted as materialized (
    select case
      when cardinality($6) > (
        select count(*) from asked join slots using (platform, value_hash) where slots.state = 'registered') then false
      when $10::integer is null then true
      else count_premium_rules($2) < $10 end as has_room
  ), found as (
    select slots.id, asked.written, asked.translated, ${heldSlotColumns}
    from asked
    join counted on counted.has_room
    join slots on slots.platform = asked.platform and slots.value_hash = asked.value_hash
    join sources on sources.id = slots.source_id
    where slots.state = 'registered' and sources.live_until > now()
    order by slots.platform for key share of slots
  ), complete as (
    select from found having count(*) = cardinality($6::text[])
  ), new_rule as (
    insert into rules (id, account_id, name, intent, state, expires_at, examples, managed_set, managed_key)
    select $1, $2, $3, $4, 'active', $5, $16::json, $17, $18 from complete
  ), new_versions as (
    insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id)
    select $1, 1, platform, written, translated, id from found, complete
  ), new_holders as (
    insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version)
    select id, $1, $2, platform, 1 from found, complete
  ), new_audit as (
    insert into audit (id, account_id, actor, operation, target_id, before, after, request_id)
    select $11, $2, $12, $13, $1, null, json_build_object('name', $3::text, 'state', 'active'), $14 from complete
  )
  select written.*, equivalent.id as equivalent_rule_id
  from (select ${equivalentRule({
    ruleId: '$1',
    accountId: '$2',
    platform: '($6::text[])[1]',
    valueHash: '($7::bytea[])[1]',
    values: '$15::text[]',
  })} as id) as equivalent
  left join (select found.* from found, complete) as written on true
  order by platform desc`;

async function writeRegistered(sql: Sql, rule: NewRule, { change }: WhenRegistered): Promise<WrittenRow[]> {
  const { values } = rule;
  const isPremium = values.some(({ platform }) => platform === 'x');
  return await sql.prepared<WrittenRow>(writeStatement, [
    rule.id,
    rule.accountId,
    rule.name,
    rule.intent,
    rule.expiresAt,
    values.map(({ platform }) => platform),
    values.map(({ platform, translatedValue }) => valueHash(platform, translatedValue)),
    values.map(({ value }) => value),
    values.map(({ translatedValue }) => translatedValue),
    isPremium ? rule.premiumRulesMax : null,
    newId('aud'),
    change.actor,
    change.operation,
    change.requestId,
    comparable(values),
    ...asCodeColumns(rule),
  ]);
}
