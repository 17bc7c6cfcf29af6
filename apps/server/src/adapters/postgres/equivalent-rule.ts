import type { NewRule } from '../../rules/rule-store.ts';
import { valueHash } from '../../slots/slot.ts';
import type { Sql } from './database.ts';

/**
 * The oldest other rule of the account with the same values on the same platforms. One that is not paused holds the
 * slots of its values, so looking at the holders of one of them finds it.
 */
export async function equivalentOf(
  sql: Sql,
  { id, accountId, values }: Pick<NewRule, 'id' | 'accountId' | 'values'>,
): Promise<string | null> {
  const [first] = values;
  if (!first) return null;
  const isEquivalent = `rules.state not in ('creating', 'deleted') and rules.id <> $2 and (
    select array_agg(v.platform || ' ' || v.translated_value order by v.platform collate "C") from rule_versions v
    where v.rule_id = rules.id and v.version = rules.version) = $5::text[]`;
  const rows = await sql.prepared<{ id: string | null }>(
    `select least(
       (select holders.rule_id from slots
        join slot_holders holders on holders.account_id = $1 and holders.platform = $3 and holders.slot_id = slots.id
        join rules on rules.id = holders.rule_id
        where slots.platform = $3 and slots.value_hash = $4 and ${isEquivalent}
        order by holders.rule_id limit 1),
       (select rules.id from rules
        where rules.account_id = $1 and rules.state = 'paused' and ${isEquivalent}
        order by rules.id limit 1)) as id`,
    [
      accountId,
      id,
      first.platform,
      valueHash(first.platform, first.translatedValue),
      values.map(({ platform, translatedValue }) => `${platform} ${translatedValue}`).toSorted(),
    ],
  );
  return rows[0]?.id ?? null;
}
