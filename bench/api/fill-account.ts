import type pg from 'pg';
import { openDatabase } from '../../apps/server/src/engines/database.ts';
import type { LogEvent } from '../../apps/server/src/event-log/event-log.ts';
import { createMatchStore } from '../../apps/server/src/matching/match-store.sql.ts';
import type { Engines } from '../start-engines.ts';

const matches = 5_000;
const sentence = 'The turbine hall was quiet when the first engineers arrived before dawn to look at it. ';

/** So many rules, each with a slot of its own, and matches of some of them, as the match workers write them. */
export async function fillAccount(
  { postgresUrl }: Engines,
  superuser: pg.Pool,
  { accountId, rules }: { accountId: string; rules: number },
): Promise<void> {
  const idOf = (n: number) => `rule_${accountId}_${String(n).padStart(7, '0')}`;
  await superuser.query(
    `insert into rules (id, account_id, name, intent, state)
     select 'rule_' || $1 || '_' || lpad(n::text, 7, '0'), $1, 'rule', 'to measure', 'active'
     from generate_series(0, $2::integer - 1) as n`,
    [accountId, rules],
  );
  // On a source that nobody serves: its slots are left alone.
  await superuser.query(
    `insert into sources (id, platform, capacity, enabled) values ('x:idle', 'x', 1000000, false) on conflict do nothing`,
  );
  await superuser.query(
    `with mine as (
       select 'rule_' || $1 || '_' || lpad(n::text, 7, '0') as rule_id, 'slot_' || $1 || '_' || n as slot_id,
         'word' || n || ' ' || $1 as value
       from generate_series(0, $2::integer - 1) as n
     ), taken as (
       insert into slots (id, platform, source_id, value, value_hash, state, upstream_rule_id, registered_at, confirmed_at)
       select slot_id, 'x', 'x:idle', value, sha256(value::bytea), 'registered', slot_id, now(), now() from mine
     ), versions as (
       insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id)
       select rule_id, 1, 'x', value, value, slot_id from mine
     )
     insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, served_since)
     select slot_id, rule_id, $1, 'x', 1, now() from mine`,
    [accountId, rules],
  );
  await using database = openDatabase({ url: postgresUrl, connectionsMax: 1, onIdleError: () => undefined });
  const store = createMatchStore(database);
  const day = new Date().toISOString().slice(0, 10);
  await store.makeDays([day]);
  const numbers = Array.from({ length: matches }, (_, n) => n);
  for (let from = 0; from < matches; from += 1_000) {
    const some = numbers.slice(from, from + 1_000);
    await store.write(
      some.map((n) => postOf(`${accountId}-${n}`, day)),
      some.map((n) => ({
        accountId,
        ruleId: idOf(n % rules),
        ruleVersion: 1,
        platform: 'x',
        eventKey: `${accountId}-${n}`,
        eventDay: day,
        via: 'stream',
        cost: { part: 1_000_000, users: 1, posts: 0 },
      })),
      [],
      [],
    );
  }
}

function postOf(key: string, day: string): LogEvent {
  const text = `known0 ${sentence.repeat(2)}`;
  const author = { id: '1', name: 'A person', handle: 'person' };
  const payload = {
    url: `https://x.com/person/status/${key}`,
    title: null,
    text,
    author,
    published_at: new Date().toISOString(),
    language: 'en',
    raw: { data: { id: key, text, author_id: '1', lang: 'en', created_at: new Date().toISOString() } },
  };
  return {
    platform: 'x',
    sourceId: 'x:main',
    upstreamEventId: key,
    key,
    day,
    platformPostId: key,
    rules: [],
    payload,
  };
}
