import type pg from 'pg';
import { openDatabase } from '../../apps/server/src/engines/database.ts';
import { createMatchStore } from '../../apps/server/src/matching/match-store.sql.ts';
import { xMatch } from '../../apps/server/test/stream-events.ts';
import type { Engines } from '../start-engines.ts';
import { postOf } from '../stored.ts';

const matches = 5_000;

/** Creates rules with one slot each, and matches of some of them, as the match workers write them. */
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
  // No node runs this source, so its slots do not change.
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
    const some = numbers
      .slice(from, from + 1_000)
      .map((n) => ({ n, post: postOf(`${accountId}-${n}`, day) }));
    await store.write(
      some.map(({ post }) => post),
      some.map(({ n, post }) => xMatch(post, idOf(n % rules), accountId)),
      [],
      [],
    );
  }
}
