import type { Platform } from '@earshot/contract';
import type { Sql } from '../engines/database.ts';
import { findPlaces } from '../readers/match-days.sql.ts';
import { selectMatches } from '../readers/match-reader.sql.ts';

/** The matches of a digest: those of a filter, after one position and up to another. */
export interface DigestRange {
  readonly accountId: string;
  readonly ruleIds: readonly string[] | null;
  readonly platform: Platform | null;
  readonly positionFrom: number;
  readonly positionTo: number;
}

export interface RuleCount {
  readonly ruleId: string;
  readonly platform: Platform;
  readonly matches: number;
}

/** Counts listed matches by rule and platform, up to `max`. */
export async function countMatches(sql: Sql, range: DigestRange, max: number): Promise<RuleCount[]> {
  const { accountId, ruleIds, platform, positionFrom: after, positionTo } = range;
  const filter = { accountId, ruleIds, platform, since: null, until: null };
  const places = await findPlaces(sql, { ...filter, order: 'newest', from: positionTo + 1, limit: max });
  const values: unknown[] = [accountId, max];
  const matches = selectMatches(filter, { ...places, after }, (value) => `$${values.push(value)}`);
  if (matches.length === 0) return [];
  return await sql.many<RuleCount>(
    `select rule_id as "ruleId", platform, count(*) as matches
     from (select rule_id, platform from (${matches.join(' union all ')}) as found limit $2) as counted
     group by rule_id, platform order by matches desc, rule_id, platform`,
    values,
  );
}
