import type { Database, Sql } from '../../apps/server/src/engines/database.ts';

/** How positions come into order: as the server does it, as it did before (ADR 38), and not at all. */
export const orders = ['tickets', 'one lock', 'no order'] as const;
export type Order = (typeof orders)[number];

/** In a statement: from here to the commit other writers wait. */
const noted = `set_config('bench.turn_at', clock_timestamp()::text, true)`;

/**
 * The server's database, in which the statement that gives out positions is another. `onTurn` gets the milliseconds during which a
 * transaction kept the others waiting; to ask for them makes it longer.
 */
export function withOrder(database: Database, order: Order, onTurn: ((ms: number) => void) | null): Database {
  const ordered: Record<Order, (text: string) => string> = {
    tickets: (text) =>
      text.replace(
        'select take_turn(ticket, before, $1) from',
        `select take_turn(ticket, before, $1), ${noted} from`,
      ),
    'one lock': () => underOneLock,
    'no order': () => withoutOrder,
  };
  const replaced = (sql: Sql): Sql => ({
    ...sql,
    prepared: async (text, values) => {
      // Without an order, writers would lock each other up over rows that all of them change.
      if (order === 'no order' && text.includes('insert into source_usage')) return [];
      if (!text.includes('take_positions')) return await sql.prepared(text, values);
      return await sql.prepared(ordered[order](text), values);
    },
  });
  if (onTurn === null)
    return { ...database, transaction: (work) => database.transaction((sql) => work(replaced(sql))) };
  return {
    ...database,
    transaction: async (work) => {
      let [turnMs, workedAt] = [0, 0];
      const result = await database.transaction(async (sql) => {
        const worked = await work(replaced(sql));
        const asked = performance.now();
        const row = await sql.one<{ ms: number }>(
          `select extract(epoch from clock_timestamp() - current_setting('bench.turn_at', true)::timestamptz)::float8 * 1000 as ms`,
        );
        workedAt = performance.now();
        turnMs = (row?.ms ?? 0) - (workedAt - asked) / 2;
        return worked;
      });
      onTurn(turnMs + performance.now() - workedAt);
      return result;
    },
  };
}

/** What a database needs for it. */
export const preparedFor: Record<Order, string> = {
  tickets: 'select',
  'one lock': 'drop trigger others_queue on match_log; drop trigger others_are_placed on match_log',
  'no order': 'create sequence bench_positions increment by 10000',
};

const newMatches = `insert into matches
    (position, account_id, rule_id, rule_version, platform, event_key, event_day, via, created_at)
  select log.before + ordinality, account_id, rule_id, rule_version, platform, event_key, event_day, via, log.at
  from (select * from log limit 1) as log,
    unnest($2::text[], $3::text[], $4::integer[], $5::text[], $6::text[], $7::date[], $8::text[])
    with ordinality as given (account_id, rule_id, rule_version, platform, event_key, event_day, via, ordinality)
  on conflict do nothing
  returning position, account_id, rule_id, platform, event_key, event_day, created_at`;

const answer = `select platform, count(*), json_agg(json_build_object('position', position, 'ruleId', rule_id, 'eventKey', event_key))
    filter (where event_key = any($12)) as traced
  from new group by platform`;

/** The statement of v0.1.0. */
const underOneLock = `with log as (
    update match_log set last_position = last_position + $1
    returning last_position - $1 as before, clock_timestamp() as at, ${noted}
  ), new as (${newMatches}
  ), costs as (
    select log.before + ordinality as position, part, users, posts
    from (select * from log limit 1) as log,
      unnest($9::integer[], $10::integer[], $11::integer[]) with ordinality as given (part, users, posts, ordinality)
  ), counted as (
    insert into usage (account_id, rule_id, platform, day, matches, last_match_at, items, users, referenced_posts)
    select account_id, rule_id, platform, (min(created_at) at time zone 'UTC')::date, count(*), max(created_at),
      sum(part), sum(part::bigint * users), sum(part::bigint * posts)
    from new join costs using (position) group by account_id, rule_id, platform
    on conflict (rule_id, platform, day) do update
      set matches = usage.matches + excluded.matches, last_match_at = excluded.last_match_at,
        items = usage.items + excluded.items, users = usage.users + excluded.users,
        referenced_posts = usage.referenced_posts + excluded.referenced_posts
  ), headed as (
    insert into heads (account_id, rule_id, platform, last_position)
    select account_id, coalesce(rule_id, ''), platform, max(position)
    from new group by grouping sets ((account_id, rule_id, platform), (account_id, platform))
    on conflict (account_id, rule_id, platform) do update set last_position = excluded.last_position
  ), headed_by_day as (
    insert into day_heads (account_id, rule_id, platform, event_day, first_position, last_position, matches)
    select account_id, coalesce(rule_id, ''), platform, event_day, min(position), max(position), count(*)
    from new group by grouping sets ((account_id, rule_id, platform, event_day), (account_id, platform, event_day))
    on conflict (account_id, rule_id, platform, event_day) do update
      set last_position = excluded.last_position, matches = day_heads.matches + excluded.matches
  ), later as (
    select began, first_position from match_times
    where began > (select began_of(at) from log) order by began limit 1
  ), timed as (
    insert into match_times (began, first_position, last_position)
    select began_of(at), coalesce((select first_position from later), before + 1), before + $1 from log
    on conflict (began) do update set last_position = excluded.last_position
  ), after_a_clock_went_back as (
    update match_times set last_position = log.before + $1
    from later, log where match_times.began >= later.began
  )
  ${answer}`;

/** The matches alone: whatever keeps an order cannot be faster. */
const withoutOrder = `with log as (
    select nextval('bench_positions') as before, clock_timestamp() as at, ${noted}
    where $1::bigint > 0 and $9::integer[] is not null and $10::integer[] is not null and $11::integer[] is not null
  ), new as (${newMatches})
  ${answer}`;
