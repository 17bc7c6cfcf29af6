import type { Database } from '../src/engines/database.ts';

/** One busy account (`acc_1`, of `seedRules`) and many quiet ones with a webhook each, all matches in one day. */
export interface Size {
  /** Of the busy account, approximately: each event matches all of its rules. */
  readonly matches: number;
  readonly rules: number;
  readonly quietAccounts: number;
  readonly day: string;
}

/** The last rule has one match in each tenth of the day; the first events are of another platform than the rest. */
export const needleMatches = 10;
export const rareEvents = 5;

export const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

/**
 * Inserts with SQL into a table that becomes the partition of the day once its indexes exist. The match transaction did
 * not write these matches, so what it keeps beside them is filled in as an upgrade does.
 */
export async function fillDay(
  database: Database,
  { matches, rules, quietAccounts, day }: Size,
): Promise<void> {
  const events = Math.floor(matches / rules);
  const partition = `matches_${day.replaceAll('-', '')}`;
  await addQuietAccounts(database, quietAccounts, quietAccounts + events * rules);
  await database.run(
    `insert into posts (platform, event_key, event_day, platform_post_id, payload)
     select case when e between 1 and ${rareEvents} then 'firehose' else 'x' end, e::text, '${day}', e::text,
       '{"url":null,"title":null,"text":"one of many","author":null,"published_at":null,"language":null,"raw":{}}'
     from generate_series(0, ${events}) as e`,
  );
  await database.run(`drop table if exists ${partition}`);
  await database.run(`create table ${partition} (like matches including defaults)`);
  const at = (position: string) =>
    `'${day}'::date + ${position} * interval '1 day' / ${quietAccounts + events * rules + 1}`;
  const columns = 'position, account_id, rule_id, rule_version, platform, event_key, event_day, created_at';
  await database.run(
    `insert into ${partition} (${columns})
     select n, 'quiet_' || n, 'rule_quiet_' || n, 1, 'x', '0', '${day}', ${at('n')}
     from generate_series(1, ${quietAccounts}) as n`,
  );
  await database.run(
    `insert into ${partition} (${columns})
     select position, 'acc_1', 'rule_' || r, 1, case when e <= ${rareEvents} then 'firehose' else 'x' end, e::text, '${day}', ${at('position')}
     from generate_series(1, ${events}) as e, generate_series(1, ${rules}) as r,
       lateral (select ${quietAccounts} + (e - 1) * ${rules}::bigint + r) as places (position)
     where r < ${rules} or e % ${Math.floor(events / needleMatches)} = 0`,
  );
  await attach(database, partition, day);
  await summariseMatches(database);
  await database.run('update match_log set last_position = $1', [quietAccounts + events * rules]);
  await database.run('vacuum analyze');
  // Avoids that PostgreSQL flushes these writes during the measurements.
  await database.run('checkpoint');
}

/** Computes the summaries from the matches alone, independently of the match transaction. */
export async function summariseMatches(database: Database): Promise<void> {
  await database.transaction(async (sql) => {
    await sql.run(
      `insert into day_heads (account_id, rule_id, platform, event_day, first_position, last_position, matches)
       select account_id, coalesce(rule_id, ''), platform, event_day, min(position), max(position), count(*)
       from matches
       group by grouping sets ((account_id, rule_id, platform, event_day), (account_id, platform, event_day))`,
    );
    await sql.run(
      `insert into heads (account_id, rule_id, platform, last_position)
       select account_id, rule_id, platform, max(last_position) from day_heads group by account_id, rule_id, platform`,
    );
    await sql.run(
      `insert into match_times (began, first_position, last_position)
       select began, min(first_position) over (order by began desc), max(last_position) over (order by began) from (
         select began_of(created_at) as began, min(position) as first_position, max(position) as last_position
         from matches group by 1
       ) as times`,
    );
    // PostgreSQL would count earlier reads up to ten seconds later, and `countReads` would include them.
    await sql.run('select pg_stat_force_next_flush()');
  });
}

/** With separate indexes, so that attaching creates none. */
async function attach(database: Database, partition: string, day: string): Promise<void> {
  await database.run(`set maintenance_work_mem = '1GB'`);
  const indexes = await database.many<{ definition: string }>(
    `select pg_get_indexdef(indexrelid) as definition from pg_index where indrelid = 'matches'::regclass and not indisprimary`,
  );
  await database.run(`alter table ${partition} add primary key (rule_id, event_key, event_day)`);
  for (const { definition } of indexes) {
    await database.run(
      definition.replace(/^create index \w+ on (only )?public\.matches/i, `create index on ${partition}`),
    );
  }
  await database.run(
    `alter table ${partition} add constraint of_day check (event_day = '${day}' and event_day is not null)`,
  );
  await database.run(
    `alter table matches attach partition ${partition} for values from ('${day}') to ('${day}'::date + 1)`,
  );
}

/** Each has had one match, and its webhook has sent it. */
async function addQuietAccounts(database: Database, count: number, end: number): Promise<void> {
  const each = `from generate_series(1, ${count}) as n`;
  await database.run(`insert into accounts (id, name, plan) select 'quiet_' || n, 'quiet', 'paid' ${each}`);
  await database.run(
    `insert into rules (id, account_id, name, intent, state)
     select 'rule_quiet_' || n, 'quiet_' || n, 'rule', 'test', 'active' ${each}`,
  );
  await database.run(
    `insert into webhooks (id, account_id, name, url, state, position, batch_max, next_attempt_at, secret)
     select 'whk_' || n, 'quiet_' || n, 'n', 'https://hooks.example/', 'active', $1, 100, now(), 's' ${each}`,
    [Math.min(count, end)],
  );
}

export interface Read {
  /** The number of scans of partitions of matches. */
  readonly scans: number;
  /** Rows or index entries of matches that were read. */
  readonly rows: number;
  readonly partitions: readonly string[];
}

/** PostgreSQL's counters while a function runs. The pool has one connection, so that no other statement adds to them. */
export async function countReads(database: Database, work: () => Promise<unknown>): Promise<Read> {
  const counted = async () => {
    await database.run('select pg_stat_force_next_flush()');
    return await database.many<{ name: string; scans: number; rows: number }>(
      `select relname as name, seq_scan + coalesce(idx_scan, 0) as scans, (seq_tup_read + coalesce(
         (select sum(idx_tup_read) from pg_stat_user_indexes as own where own.relid = tables.relid), 0))::bigint as rows
       from pg_stat_user_tables as tables where relname ~ '^matches_[0-9]+$'`,
    );
  };
  const before = new Map((await counted()).map((row) => [row.name, row]));
  await work();
  const grown = (await counted()).map(({ name, scans, rows }) => ({
    name,
    scans: scans - (before.get(name)?.scans ?? 0),
    rows: rows - (before.get(name)?.rows ?? 0),
  }));
  return {
    scans: grown.reduce((sum, { scans }) => sum + scans, 0),
    rows: grown.reduce((sum, { rows }) => sum + rows, 0),
    partitions: grown
      .filter(({ scans }) => scans > 0)
      .map(({ name }) => name)
      .toSorted(),
  };
}
