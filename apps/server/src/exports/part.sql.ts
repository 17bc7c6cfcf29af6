import type { Sql } from '../engines/database.ts';
import { findPlaces } from '../readers/match-days.sql.ts';
import { selectMatches } from '../readers/match-reader.sql.ts';
import type { RowRange } from './read-rows.ts';

/** The position of the last match of a part; null if the part has everything up to `through`. */
export async function findEndOfPart(
  sql: Sql,
  filter: Pick<RowRange, 'accountId' | 'ruleIds' | 'platform' | 'since' | 'until'>,
  { after, through, limit }: { readonly after: number; readonly through: number; readonly limit: number },
): Promise<number | null> {
  const { accountId } = filter;
  const places = await findPlaces(sql, { ...filter, order: 'oldest', from: after, limit });
  const values: unknown[] = [accountId, limit];
  const range = { ...places, through: Math.min(places.through, through) };
  const selects = selectMatches(filter, range, (value) => `$${values.push(value)}`);
  if (selects.length === 0) return null;
  const first = selects.map(
    (select) => `(select position from (${select}) as found order by position limit $2)`,
  );
  const [row] = await sql.many<{ position: number; count: number }>(
    `select max(position) as position, count(*)::integer as count
     from (select position from (${first.join(' union all ')}) as first order by position limit $2) as part`,
    values,
  );
  return row && row.count >= limit && row.position < through ? row.position : null;
}
