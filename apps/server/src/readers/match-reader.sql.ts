import type { Platform } from '@earshot/contract';
import type { Database } from '../engines/database.ts';
import type { MatchReader, StoredMatch } from './match-reader.ts';

interface MatchRow {
  position: number;
  rule_id: string;
  rule_version: number;
  rule_value: string;
  created_at: Date;
  platform: Platform;
  platform_post_id: string;
  via: 'stream' | 'search';
  payload: string;
}

/**
 * The page is cut from the narrow table first, in the order of its index; only then are the payloads fetched.
 * Written as one join, a planner without fresh statistics sorts everything behind the cursor (measured: 240 ms
 * against 2 ms per page over 50,000 matches). Named, because planning over all partitions costs more than the page.
 */
export function createMatchReader(database: Database): MatchReader {
  return {
    async read({ accountId, ruleId, platform, since, until, order, from, limit }) {
      const values: unknown[] = [accountId, limit];
      const where: string[] = ['account_id = $1'];
      const add = (condition: string, value: unknown) => {
        if (value === null) return;
        values.push(value);
        where.push(`${condition} $${values.length}`);
      };
      add('rule_id =', ruleId);
      add('platform =', platform);
      add('created_at >=', since);
      add('created_at <', until);
      add(order === 'oldest' ? 'position >' : 'position <', from);
      const direction = order === 'oldest' ? 'asc' : 'desc';
      const rows = await database.forAccount(accountId).prepared<MatchRow>(
        `with page as materialized (
           select position, rule_id, rule_version, created_at, platform, event_key, event_day, via from matches
           where ${where.join(' and ')} and rule_id not in (
             select id from rules where account_id = $1 and state in ('creating', 'deleted')
           )
           order by position ${direction} limit $2
         )
         select page.position, page.rule_id, page.rule_version, page.created_at, page.platform, page.via,
           posts.platform_post_id, posts.payload, coalesce(versions.translated_value, '') as rule_value
         from page join posts on posts.event_key = page.event_key and posts.platform = page.platform
           and posts.event_day = page.event_day
         left join rule_versions versions on versions.rule_id = page.rule_id and versions.version = page.rule_version
           and versions.platform = page.platform
         order by page.position ${direction}`,
        values,
      );
      return rows.map(toStoredMatch);
    },
    async removedThrough({ accountId, ruleId, platform }) {
      const row = await database.forAccount(accountId).one<{ through: number | null }>(
        `select max(last_position) as through from removed_matches
         where account_id = $1 and ($2::text is null or rule_id = $2) and ($3::text is null or platform = $3)`,
        [accountId, ruleId, platform],
      );
      return row?.through ?? 0;
    },
  };
}

function toStoredMatch(row: MatchRow): StoredMatch {
  return {
    position: row.position,
    ruleId: row.rule_id,
    ruleVersion: row.rule_version,
    ruleValue: row.rule_value,
    createdAt: row.created_at,
    platform: row.platform,
    platformPostId: row.platform_post_id,
    via: row.via,
    payload: JSON.parse(row.payload),
  };
}
