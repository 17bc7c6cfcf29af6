import { migratedTemplate } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { type DeletionProgress, deleteAccount } from '../src/removals/delete-account.ts';
import { openTestDatabase, seedRules } from './support.ts';

const many = 12_000;

test('deletes the rows of an account in bounded steps, and no row of another account', async () => {
  await using clone = await migratedTemplate().clone();
  await using database = openTestDatabase(clone.url);
  await seedRules(database, 150);
  await database.run(
    `insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id)
     select rule_id, 1, platform, 'v', 'v', slot_id from slot_holders`,
  );
  await database.run(`insert into accounts (id, name, plan) values ('acc_2', 'two', 'paid')`);
  await database.run(
    `insert into matches (position, account_id, rule_id, rule_version, platform, event_key, event_day)
     select n, case when n % 3 = 0 then 'acc_2' else 'acc_1' end, 'rule_1', 1, 'x', n::text,
       (now() at time zone 'UTC')::date - n % 2
     from generate_series(1, $1::integer) as n`,
    [many],
  );
  await database.run(
    `insert into audit (id, account_id, actor, operation, target_id)
     select 'aud_' || n, case when n % 2 = 0 then 'acc_2' else 'acc_1' end, 'a', 'o', 't' from generate_series(1, $1::integer) as n`,
    [many],
  );
  await database.run(
    `insert into bill_shares (day, source_id, kind, account_id, rule_id, at_least, at_most)
     values (current_date, 'x:main', 'post', 'acc_1', 'rule_1', 3, 5), (current_date, 'x:main', 'post', '', '', 1, 1),
       (current_date, 'x:main', 'post', 'acc_2', 'rule_2', 7, 7)`,
  );
  // A digest refers to its webhook, and its digest message to it.
  await database.run(
    `insert into webhooks (id, account_id, name, url, state, position, batch_max, next_attempt_at, secret)
     values ('whk_1', 'acc_1', 'n', 'u', 'active', 0, 1, now(), 's')`,
  );
  await database.run(
    `insert into digests (id, account_id, name, window_seconds, webhook_id, min_matches, empty, max_matches, position,
       covered_until, next_at)
     values ('dig_1', 'acc_1', 'n', 60, 'whk_1', 1, 'skip', 50, 0, now(), now())`,
  );
  await database.run(
    `insert into digest_messages (digest_id, account_id, message_id, number, position_from, position_to, from_at, to_at,
       made_at, next_attempt_at)
     values ('dig_1', 'acc_1', 'm', 1, 0, 1, now(), now(), now(), now())`,
  );
  const said: DeletionProgress[] = [];
  const deleted = await deleteAccount(database, 'acc_1', {
    onProgress: (one) => {
      said.push(one);
      // The registrar removes slots without holders.
      if (one.step === 'upstream') void database.run(`delete from slots where state = 'releasing'`);
    },
    settleMs: 0,
    lookMs: 20,
  });
  expect(deleted).toMatchObject({ rules: 150 });
  const steps = (table: string) =>
    said.flatMap((one) => (one.step === 'rows' && one.table === table ? [one.removed] : []));
  expect(steps('matches').at(-1)).toBe((2 * many) / 3);
  expect(steps('matches').length).toBeGreaterThanOrEqual(2);
  // With the entries that the deletion itself has recorded.
  expect(steps('audit')).toEqual([5_000, many / 2 + 151]);
  expect(said.some(({ step }) => step === 'upstream')).toBe(true);

  const count = async (table: string) =>
    (await database.one<{ count: number }>(`select count(*) from ${table}`))?.count;
  expect(await count('matches')).toBe(many / 3);
  expect(await count('audit')).toBe(many / 2);
  expect(await count('slots')).toBe(0);
  for (const table of ['digest_messages', 'digests', 'webhooks']) expect(await count(table)).toBe(0);
  expect(await database.many('select id from accounts')).toEqual([{ id: 'acc_2' }]);
  const bill = await database.many(
    'select account_id, at_least, at_most from bill_shares order by account_id',
  );
  expect(bill).toEqual([
    { account_id: '', at_least: 4, at_most: 6 },
    { account_id: 'acc_2', at_least: 7, at_most: 7 },
  ]);
  expect(await deleteAccount(database, 'acc_1', { settleMs: 0 })).toMatchObject({ rules: 0, rows: 0 });
  expect(await deleteAccount(database, 'acc_3', { settleMs: 0 })).toBeNull();
});
