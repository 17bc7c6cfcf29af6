import type { Platform } from '@earshot/contract';
import type { Database } from '../engines/database.ts';
import type { StoredMatch } from './match-reader.ts';
import type { MatchHeader, TailSource } from './match-tail.ts';

interface HeaderRow {
  position: number;
  account_id: string;
  rule_id: string;
  rule_version: number;
  platform: Platform;
  event_key: string;
  event_day: string;
  created_at: Date;
  via: 'stream' | 'search';
}

interface LongRow {
  number: number;
  platform_post_id: string;
  payload: string;
  rule_value: string;
}

export function createMatchTailSource(database: Database): TailSource {
  return {
    async lastPosition() {
      const row = await database.one<{ last_position: number }>('select last_position from match_log');
      return row?.last_position ?? 0;
    },
    async after(position, limit) {
      const rows = await database.prepared<HeaderRow>(
        `select position, account_id, rule_id, rule_version, platform, event_key, event_day::text, created_at, via
         from matches where position > $1 order by position limit $2`,
        [position, limit],
      );
      return rows.map(toHeader);
    },
    async load(headers) {
      // The limit inside makes it one look-up per match: as a plain join it might read all posts.
      const rows = await database.prepared<LongRow>(
        `select given.number, posts.platform_post_id, posts.payload,
           coalesce(versions.translated_value, '') as rule_value
         from unnest($1::text[], $2::text[], $3::date[], $4::text[], $5::integer[]) with ordinality
           as given (event_key, platform, event_day, rule_id, rule_version, number)
         join lateral (
           select platform_post_id, payload from posts where posts.event_key = given.event_key
             and posts.platform = given.platform and posts.event_day = given.event_day limit 1
         ) as posts on true
         join rules on rules.id = given.rule_id and rules.state not in ('creating', 'deleted')
         left join rule_versions versions on versions.rule_id = given.rule_id
           and versions.version = given.rule_version and versions.platform = given.platform
         order by given.number`,
        [
          headers.map((header) => header.eventKey),
          headers.map((header) => header.platform),
          headers.map((header) => header.eventDay),
          headers.map((header) => header.ruleId),
          headers.map((header) => header.ruleVersion),
        ],
      );
      return rows.flatMap((row) => {
        const header = headers[row.number - 1];
        return header ? [toStoredMatch(header, row)] : [];
      });
    },
  };
}

function toHeader(row: HeaderRow): MatchHeader {
  return {
    position: row.position,
    accountId: row.account_id,
    ruleId: row.rule_id,
    ruleVersion: row.rule_version,
    platform: row.platform,
    eventKey: row.event_key,
    eventDay: row.event_day,
    createdAt: row.created_at,
    via: row.via,
  };
}

function toStoredMatch(header: MatchHeader, row: LongRow): StoredMatch {
  return {
    position: header.position,
    ruleId: header.ruleId,
    ruleVersion: header.ruleVersion,
    ruleValue: row.rule_value,
    createdAt: header.createdAt,
    via: header.via,
    platform: header.platform,
    platformPostId: row.platform_post_id,
    payload: JSON.parse(row.payload),
  };
}
