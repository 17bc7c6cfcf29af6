import type { Platform, Removal } from '@earshot/contract';
import type { Database } from '../engines/database.ts';
import {
  isCut,
  type PayloadRow,
  pageBytesMax,
  restoredTo,
  type StoredMatch,
  type StoredRemoval,
  sizes,
} from './match-reader.sql.ts';

/** A match without its payload, or a removal. */
export interface MatchHeader {
  readonly position: number;
  readonly accountId: string;
  readonly ruleId: string;
  readonly ruleVersion: number;
  readonly platform: Platform;
  readonly eventKey: string;
  /** Null for a removal. */
  readonly eventDay: string | null;
  readonly createdAt: Date;
  readonly via: 'stream' | 'search';
  /** The removed match and the reason; null for a match. */
  readonly removed: Pick<StoredRemoval, 'matchPosition' | 'reason'> | null;
}

interface HeaderRow {
  position: number;
  account_id: string;
  rule_id: string;
  rule_version: number;
  platform: Platform;
  event_key: string;
  event_day: string | null;
  created_at: Date;
  via: 'stream' | 'search';
  match_position: number | null;
  reason: Removal['reason'] | null;
}

/** The payload bytes that are loaded at once for all waiting readers. */
const tailBytesMax = 4 * pageBytesMax;

export type TailReader = ReturnType<typeof createTailReader>;

/** Reads the end of the match log of all accounts. */
export function createTailReader(database: Database) {
  return {
    /** The position of the last visible match, or of one before it. Null on a standby, which may be behind what readers have. */
    async lastPosition(): Promise<number | null> {
      const row = await database.one<{ last_position: number }>(
        'select last_position from match_log where not pg_is_in_recovery()',
      );
      return row?.last_position ?? null;
    },
    /** The position to which the log went back, if that made the given position invalid; else null. */
    async restoredTo(position: number): Promise<number | null> {
      const row = await database.one<{ to: number | null }>(`select ${restoredTo('$1::bigint')} as to`, [
        position,
      ]);
      return row?.to ?? null;
    },
    async after(position: number, limit: number): Promise<MatchHeader[]> {
      const rows = await database.prepared<HeaderRow>(
        `select * from (
           (select position, account_id, rule_id, rule_version, platform, event_key, event_day::text, created_at, via,
              null::bigint as match_position, null as reason
            from matches where position > $1 order by position limit $2)
           union all
           (select position, removals.account_id, rule_id, 0, platform, '', null, removals.created_at, 'stream',
              match_position, reason
            from removals join rules on rules.id = rule_id and rules.state not in ('creating', 'deleted')
            where position > $1 order by position limit $2)
         ) as entries order by position limit $2`,
        [position, limit],
      );
      return rows.map(toHeader);
    },
    /**
     * Loads matches in the same order, without removals and without matches whose rule is not listed. If the payloads are too large for
     * memory, it loads only the first `taken` headers.
     */
    async load(headers: readonly MatchHeader[]): Promise<{ matches: StoredMatch[]; taken: number }> {
      // The inner limit makes it one index lookup per match: a plain join might read all posts.
      const rows = await database.prepared<PayloadRow & { number: number }>(
        `with found as (select given.number, posts.platform_post_id, posts.payload,
           coalesce(versions.translated_value, '') as rule_value, ${sizes('given.number')}
         from unnest($1::text[], $2::text[], $3::date[], $4::text[], $5::integer[]) with ordinality
           as given (event_key, platform, event_day, rule_id, rule_version, number)
         join lateral (
           select platform_post_id, payload from posts where posts.event_key = given.event_key
             and posts.platform = given.platform and posts.event_day = given.event_day limit 1
         ) as posts on true
         join rules on rules.id = given.rule_id and rules.state not in ('creating', 'deleted')
         left join rule_versions versions on versions.rule_id = given.rule_id
           and versions.version = given.rule_version and versions.platform = given.platform
         )
         select number, platform_post_id, payload, rule_value, bytes, bytes_of_all, rows_of_all
         from found where bytes <= $6 or nth = 1 order by number`,
        [
          ...(['eventKey', 'platform', 'eventDay', 'ruleId', 'ruleVersion'] as const).map((name) =>
            headers.map((header) => header[name]),
          ),
          tailBytesMax,
        ],
      );
      const last = rows.at(-1);
      const matches = rows.flatMap((row) => {
        const header = headers[row.number - 1];
        return header ? [withPayload(header, row)] : [];
      });
      return { matches, taken: last && isCut(last) ? last.number : headers.length };
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
    removed:
      row.match_position === null || row.reason === null
        ? null
        : { matchPosition: row.match_position, reason: row.reason },
  };
}

function withPayload(header: MatchHeader, row: PayloadRow): StoredMatch {
  const { position, ruleId, ruleVersion, createdAt, via, platform, eventKey } = header;
  const payload = JSON.parse(row.payload);
  const stored = { ruleValue: row.rule_value, platformPostId: row.platform_post_id, payload };
  return { position, ruleId, ruleVersion, createdAt, via, platform, eventKey, ...stored };
}
