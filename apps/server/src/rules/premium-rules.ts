import type { Sql } from '../engines/database.ts';

/**
 * How many rules on `x` the account has, the paused ones included: a pause is no way round the limit, and a resume
 * does not fail because others came meanwhile. Counted under the account's row lock, so that two requests cannot
 * both take the last place. A rule that changes its value holds two slots for a while and counts once.
 */
export async function countPremiumRules(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql.prepared<{ used: number }>('select count_premium_rules($1) as used', [accountId]);
  return row?.used ?? 0;
}
