import type { Pool } from 'pg';

export interface StoredMatches {
  readonly accountId: string;
  readonly ruleId: string;
  readonly count: number;
  /** Characters of the text of each item, which is also in `raw`. */
  readonly textLength: number;
}

/** Stores matches as if they had arrived, in seconds instead of hours. The texts have commas, quotes and line breaks. */
export async function storeMatches(
  database: Pool,
  { accountId, ruleId, count, textLength }: StoredMatches,
): Promise<void> {
  const each = `generate_series(1, ${count}) as n`;
  const day = `(now() at time zone 'UTC')::date`;
  await database.query(
    `insert into posts (platform, event_key, event_day, platform_post_id, payload)
     select 'x', 'stored-' || n, ${day}, 'stored-' || n, json_build_object('url', 'https://x.com/a/status/' || n, 'title', null,
       'text', text, 'author', json_build_object('id', n::text, 'name', '=Person ' || n, 'handle', 'person'),
       'published_at', '2026-11-14T22:51:08.123Z', 'language', 'en',
       'raw', json_build_object('data', json_build_object('id', n::text, 'text', text)))
     from ${each}, lateral (select n || E', "comet"\\né ' || repeat(md5(n::text), ${Math.ceil(textLength / 32)})) as item (text)`,
  );
  await database.query(
    `insert into matches (position, account_id, rule_id, rule_version, platform, event_key, event_day)
     select last_position + n, $1, $2, 1, 'x', 'stored-' || n, ${day} from match_log, ${each}`,
    [accountId, ruleId],
  );
  for (const rule of [ruleId, '']) {
    const stored = `from matches where account_id = $1 group by platform`;
    await database.query(
      `insert into day_heads (account_id, rule_id, platform, event_day, first_position, last_position, matches)
       select $1, $2, platform, ${day}, min(position), max(position), count(*) ${stored}
       on conflict (account_id, rule_id, platform, event_day) do update
       set last_position = excluded.last_position, matches = excluded.matches`,
      [accountId, rule],
    );
    await database.query(
      `insert into heads (account_id, rule_id, platform, last_position) select $1, $2, platform, max(position) ${stored}
       on conflict (account_id, rule_id, platform) do update set last_position = excluded.last_position`,
      [accountId, rule],
    );
  }
  await database.query(`update match_log set last_position = last_position + ${count}`);
  await database.query(
    `insert into match_times (began, first_position, last_position)
     select began_of(now()), last_position - ${count - 1}, last_position from match_log
     on conflict (began) do update set last_position = excluded.last_position`,
  );
  await database.query('analyze matches, posts');
}
