import type { Sql } from './database.ts';

/**
 * How many rules on `x` the account has, the paused ones included: a pause is no way round the limit, and a resume
 * does not fail because others came meanwhile. Counted under the account's row lock, so that two requests cannot
 * both take the last place. A rule that changes its value holds two slots for a while and counts once.
 */
export async function countPremiumRules(sql: Sql, accountId: string): Promise<number> {
  // Not `for update`: a row that refers to the account would have to wait, perhaps while it holds slots.
  await sql.prepared('select 1 from accounts where id = $1 for no key update', [accountId]);
  const [row] = await sql.prepared<{ used: number }>(
    `select count(*) as used from (
       select rule_id from slot_holders where account_id = $1 and platform = 'x'
       union
       select rules.id from rules join rule_versions v on v.rule_id = rules.id and v.version = rules.version
       where rules.account_id = $1 and rules.state = 'paused' and v.platform = 'x'
     ) as premium`,
    [accountId],
  );
  return row?.used ?? 0;
}
