import { eventually, migratedTemplate, type TestDatabase } from '@earshot/testkit';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Database, Sql } from '../src/engines/database.ts';
import { forgetNotices, raiseNotices, resolveNotices } from '../src/notices/notice-log.sql.ts';
import { createNoticeReader, type PlacedNotice } from '../src/notices/notice-reader.sql.ts';
import { openTestDatabase } from './support.ts';

const template = migratedTemplate();
let clone: TestDatabase;
let database: Database;
beforeEach(async () => {
  clone = await template.clone();
  database = openTestDatabase(clone.url, 12);
  return async () => {
    await database[Symbol.asyncDispose]();
    await clone[Symbol.asyncDispose]();
  };
});

const ruleOf = (id: string) => ({ kind: 'rule', id, name: 'a rule' }) as const;
const expired = (ruleId: string) =>
  ({
    type: 'rule.expired',
    subject: ruleOf(ruleId),
    data: { expires_at: '2026-11-14T22:46:00.000Z' },
  }) as const;

const read = (accountId: string, from: number | null = null): Promise<PlacedNotice[]> =>
  createNoticeReader(database).read({ accountId, open: false, order: 'oldest', from, limit: 100 });

const positions = (placed: readonly PlacedNotice[]) => placed.map(({ position }) => position);

describe('raising', () => {
  test('a notice has a subject, a severity and what to do', async () => {
    expect(await raiseNotices(database, ['acc_1'], expired('rule_1'))).toBe(1);
    const [placed] = await read('acc_1');
    expect(placed?.notice).toEqual({
      id: expect.stringMatching(/^ntc_/),
      type: 'rule.expired',
      severity: 'warning',
      subject: { kind: 'rule', id: 'rule_1', name: 'a rule' },
      data: { expires_at: '2026-11-14T22:46:00.000Z' },
      what_to_do: expect.stringMatching(/resume it/),
      created_at: expect.any(String),
      resolved_at: null,
    });
  });

  test('twenty concurrent transactions on two nodes raise the same notice once', async () => {
    await using other = openTestDatabase(clone.url, 12);
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? database : other).transaction(async (sql) => {
          await sql.run('select pg_sleep(0.01)');
          return await raiseNotices(sql, ['acc_1'], expired('rule_1'));
        }),
      ),
    );
    expect(all.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(await read('acc_1')).toHaveLength(1);
  });

  test('control: without the unique index, a transaction that checked before another committed raises it again', async () => {
    const raiseSame = (sql: Sql) => raiseNotices(sql, ['acc_1'], expired('rule_1'));
    expect((await overtake(raiseSame)).afterwards).toHaveLength(1);
    await database.run('drop index notices_open');
    await database.run('delete from notices');
    expect((await overtake(raiseSame)).afterwards).toHaveLength(2);
  });

  test('is undone with the transaction of the event', async () => {
    const failing = database.transaction(async (sql) => {
      await raiseNotices(sql, ['acc_1'], expired('rule_1'));
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow('undone');
    expect(await read('acc_1')).toEqual([]);
  });

  test('other keys, subjects and accounts have separate notices', async () => {
    await raiseNotices(database, ['acc_1', 'acc_2', 'acc_1'], expired('rule_1'));
    await raiseNotices(database, ['acc_1'], { ...expired('rule_1'), key: 'other' });
    await raiseNotices(database, ['acc_1'], expired('rule_2'));
    expect(await read('acc_1')).toHaveLength(3);
    expect(await read('acc_2')).toHaveLength(1);
  });

  test('transactions that notify the same accounts in another order do not deadlock', async () => {
    const accounts = Array.from({ length: 300 }, (_, index) => `acc_${index}`);
    // So that all begin at once: a new connection takes longer than a statement.
    await Promise.all(Array.from({ length: 10 }, () => database.run('select pg_sleep(0.2)')));
    const counts = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        database.transaction((sql) =>
          raiseNotices(sql, index % 2 === 0 ? accounts : accounts.toReversed(), expired(`rule_${index}`)),
        ),
      ),
    );
    expect(counts).toEqual(counts.map(() => 300));
  });
});

/** One transaction commits while another that began before it waits. */
async function overtake(
  raise: (sql: Sql, ruleId: string) => Promise<unknown>,
): Promise<{ seen: number[]; afterwards: number[] }> {
  const firstRaised = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const first = database.transaction(async (sql) => {
    await raise(sql, 'rule_1');
    firstRaised.resolve();
    await mayCommit.promise;
  });
  await firstRaised.promise;
  let secondDone = false;
  const second = database
    .transaction((sql) => raise(sql, 'rule_2'))
    .then(() => {
      secondDone = true;
    });
  // Until the second has committed, or is seen to wait for the first.
  await eventually(
    async () => {
      const waiting = await database.one<{ count: number }>(
        `select count(*) from pg_locks where not granted and locktype in ('transactionid', 'tuple')`,
      );
      expect(secondDone || (waiting?.count ?? 0) > 0).toBe(true);
    },
    { timeoutMs: 10_000 },
  ).catch((error: unknown) => {
    mayCommit.resolve();
    throw error;
  });
  const page = await read('acc_1');
  mayCommit.resolve();
  await Promise.all([first, second]);
  const behind = await read('acc_1', page.at(-1)?.position ?? null);
  return { seen: positions([...page, ...behind]), afterwards: positions(await read('acc_1')) };
}

describe('positions', () => {
  test('become visible in order: a follower misses nothing of transactions that overtake each other', async () => {
    const { seen, afterwards } = await overtake((sql, ruleId) =>
      raiseNotices(sql, ['acc_1'], expired(ruleId)),
    );
    expect(afterwards).toHaveLength(2);
    expect(seen).toEqual(afterwards);
  });

  test('control: without the lock of the log a follower misses the notice that was committed late', async () => {
    await database.run('create sequence naive_position');
    const { seen, afterwards } = await overtake((sql, ruleId) =>
      sql.run(
        `insert into notices (id, account_id, position, type, severity, subject_kind, subject_id, subject_name, key, data, what_to_do)
         values ('ntc_' || $1, 'acc_1', nextval('naive_position'), 'rule.expired', 'info', 'rule', $1, '', '', '{}', '')`,
        [ruleId],
      ),
    );
    expect(afterwards).toHaveLength(2);
    expect(seen).not.toEqual(afterwards);
  });

  test('jump ahead if the database may have been restored, so that no cursor is ahead of new notices', async () => {
    for (const ruleId of ['rule_1', 'rule_2', 'rule_3'])
      await raiseNotices(database, ['acc_1'], expired(ruleId));
    const before = positions(await read('acc_1'));
    const readThrough = before.at(-1) ?? 0;
    // The last notice is lost, and the server is another one.
    await database.run('delete from notices where position > $1', [before[0]]);
    await database.run(`update notice_log set server = 'another'`);
    await database.run(`alter table notice_log disable trigger user`);
    await database.run('update notice_log set last_position = $1', [before[0]]);
    await database.run(`alter table notice_log enable trigger user`);
    await raiseNotices(database, ['acc_1'], expired('rule_4'));
    const [next] = await read('acc_1', readThrough);
    expect(next?.notice.subject.id).toBe('rule_4');
    // Also those of an account whose first notice is lost.
    await database.run('delete from notice_log');
    await raiseNotices(database, ['acc_1'], expired('rule_5'));
    const subjects = (await read('acc_1', readThrough)).map(({ notice }) => notice.subject.id);
    expect(subjects.toSorted()).toEqual(['rule_4', 'rule_5']);
  });
});

describe('resolving', () => {
  test('moves the notice to the end of the log, so that followers see it and lists have it once', async () => {
    await raiseNotices(database, ['acc_1'], expired('rule_1'));
    await raiseNotices(database, ['acc_1'], expired('rule_2'));
    const before = await read('acc_1');
    const from = before.at(-1)?.position ?? 0;
    const resolving = { types: ['rule.expired'], subject: ruleOf('rule_1') } as const;
    expect(await resolveNotices(database, resolving)).toEqual(['acc_1']);
    const [resolved, ...others] = await read('acc_1', from);
    expect(others).toEqual([]);
    expect(resolved?.notice).toEqual({ ...before[0]?.notice, resolved_at: expect.any(String) });
    expect((await read('acc_1')).map(({ notice }) => notice.subject.id)).toEqual(['rule_2', 'rule_1']);
    expect(await resolveNotices(database, resolving)).toEqual([]);
    expect(await raiseNotices(database, ['acc_1'], expired('rule_1'))).toBe(1);
  });

  test('by two transactions at once happens once', async () => {
    await raiseNotices(database, ['acc_1', 'acc_2'], expired('rule_1'));
    const whose: string[] = [];
    await overtake(async (sql) => {
      whose.push(...(await resolveNotices(sql, { types: ['rule.expired'], subject: ruleOf('rule_1') })));
    });
    expect(whose.toSorted()).toEqual(['acc_1', 'acc_2']);
  });

  test('assigns a position to each of several notices of one account', async () => {
    for (const key of ['1', '2', '3']) await raiseNotices(database, ['acc_1'], { ...expired('rule_1'), key });
    await resolveNotices(database, { types: ['rule.expired'], subject: ruleOf('rule_1') });
    const after = await read('acc_1');
    expect(after.every(({ notice }) => notice.resolved_at !== null)).toBe(true);
    expect(new Set(positions(after)).size).toBe(3);
  });

  test('affects only the accounts and the key that are named', async () => {
    await raiseNotices(database, ['acc_1', 'acc_2'], { ...expired('rule_1'), key: 'a' });
    await raiseNotices(database, ['acc_1'], { ...expired('rule_1'), key: 'b' });
    const resolving = { types: ['rule.expired'], subject: ruleOf('rule_1'), key: 'a' } as const;
    expect(await resolveNotices(database, { ...resolving, accountIds: ['acc_2'] })).toEqual(['acc_2']);
    expect((await read('acc_1')).map(({ notice }) => notice.resolved_at)).toEqual([null, null]);
  });
});

describe('an account', () => {
  beforeEach(async () => {
    await raiseNotices(database, ['acc_1', 'acc_2'], expired('rule_1'));
  });

  test('reads only its own log, even with a statement that names another account', async () => {
    const foreign = await database.forAccount('acc_1').many('select account_id from notices');
    expect(foreign).toEqual([{ account_id: 'acc_1' }]);
    const logs = await database.forAccount('acc_1').many('select account_id from notice_log');
    expect(logs).toEqual([{ account_id: 'acc_1' }]);
  });

  test('resolves only its own notices', async () => {
    const resolving = { types: ['rule.expired'], subject: ruleOf('rule_1') } as const;
    const whose = await database.forAccount('acc_1').transaction((sql) => resolveNotices(sql, resolving));
    expect(whose).toEqual(['acc_1']);
  });

  test('raises and removes nothing', async () => {
    for (const statement of [
      `insert into notice_log (account_id, last_position) values ('acc_1', 1)`,
      `update notices set what_to_do = 'nothing'`,
      'delete from notices',
      'delete from notice_log',
    ]) {
      const trying = database.forAccount('acc_1').transaction((sql) => sql.run(statement));
      await expect(trying).rejects.toThrow('permission denied');
    }
  });
});

test('retention removes unchanged notices as old as removed matches, and stores how far', async () => {
  await raiseNotices(database, ['acc_1', 'acc_2'], expired('rule_1'));
  await raiseNotices(database, ['acc_1'], expired('rule_2'));
  await database.run(
    `update notices set changed_at = now() - interval '32 days' where account_id = 'acc_1' and subject_id = 'rule_1'`,
  );
  const [first] = await read('acc_1');
  const reader = createNoticeReader(database);
  await forgetNotices(database, { newestDay: null, retentionDays: 40 });
  expect(await read('acc_1')).toHaveLength(2);
  await forgetNotices(database, { newestDay: null, retentionDays: 30 });
  expect((await read('acc_1')).map(({ notice }) => notice.subject.id)).toEqual(['rule_2']);
  expect((await reader.ends('acc_1')).removedThrough).toBe(first?.position);
  expect((await reader.ends('acc_2')).removedThrough).toBe(0);
  // A clock that is a year ahead of the newest event removes nothing.
  await database.run(`update notices set changed_at = now() - interval '100 days'`);
  await forgetNotices(database, { newestDay: '2020-01-01', retentionDays: 30 });
  expect(await read('acc_1')).toHaveLength(1);
});
