import type { Platform } from '@earshot/contract';
import type { Sql } from '../engines/database.ts';

/** Fewer rules or posts say little, and of few rules the factor would tell what one of them brought. */
const rulesMin = 3;
const countedMin = 100;

/** By what to multiply counts that leave this out; null until enough rules have run here. In twentieths: no more is known. */
export async function findFactor(
  sql: Sql,
  platform: Platform,
  misses: readonly string[],
): Promise<number | null> {
  const [row] = await sql.prepared<{ factor: number }>(
    `select matches / counted as factor from count_factors
     where platform = $1 and misses = $2 and rules >= ${rulesMin} and counted >= ${countedMin}`,
    [platform, misses.join('+')],
  );
  return row ? Math.max(1, Math.round(row.factor * 20)) / 20 : null;
}

/** What a rule brought in some hours, and what the platform counts of the same hours. */
export async function learnFactor(
  sql: Sql,
  learnt: { platform: Platform; misses: readonly string[]; matches: number; counted: number },
): Promise<void> {
  await sql.run(
    `insert into count_factors as known (platform, misses, rules, matches, counted) values ($1, $2, 1, $3, $4)
     on conflict (platform, misses) do update set rules = known.rules + 1,
       matches = known.matches + excluded.matches, counted = known.counted + excluded.counted`,
    [learnt.platform, learnt.misses.join('+'), learnt.matches, learnt.counted],
  );
}
