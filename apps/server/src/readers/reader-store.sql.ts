import type { AnswerOf, Platform, Reader } from '@earshot/contract';
import { type Change, recordChange } from '../accounts/change.ts';
import type { Database, Sql } from '../engines/database.ts';
import type { CreateReaderOutcome, NamedReader, NewReader, ReaderStore } from './reader-store.ts';

interface ReaderRow {
  readonly name: string;
  readonly rule_id: string | null;
  readonly platform: Platform | null;
  readonly place: string | null;
  readonly created_at: Date;
  readonly acknowledged_at: Date | null;
}

export function createReaderStore(database: Database): ReaderStore {
  return {
    find: (accountId, name) => find(database.forAccount(accountId), accountId, name),
    create: (accountId, reader) =>
      database.forAccount(accountId).transaction((sql) => create(sql, accountId, reader)),
    move: (accountId, name, { place, moves }) =>
      database.forAccount(accountId).transaction(async (sql) => {
        const row = await sql.one<ReaderRow>(
          'select place from readers where account_id = $1 and name = $2 for update',
          [accountId, name],
        );
        if (!row) return null;
        if (!moves(row.place)) return { moved: false };
        await sql.run(
          'update readers set place = $3, acknowledged_at = now() where account_id = $1 and name = $2',
          [accountId, name, place],
        );
        return { moved: true };
      }),
    async list(accountId) {
      const rows = await database.forAccount(accountId).many<ReaderRow>(
        `select name, rule_id, platform, created_at, acknowledged_at from readers
         where account_id = $1 order by name collate "C"`,
        [accountId],
      );
      return rows.map(toReader);
    },
    delete: (change, name) =>
      database.forAccount(change.accountId).transaction((sql) => remove(sql, change, name)),
  };
}

async function find(sql: Pick<Sql, 'one'>, accountId: string, name: string): Promise<NamedReader | null> {
  const row = await sql.one<ReaderRow>(
    'select rule_id, platform, place from readers where account_id = $1 and name = $2',
    [accountId, name],
  );
  return row && { ruleId: row.rule_id, platform: row.platform, place: row.place };
}

/** Counted under the account's row lock, so that two requests cannot both take the last place. */
async function create(sql: Sql, accountId: string, reader: NewReader): Promise<CreateReaderOutcome> {
  const { name, ruleId, platform, place, readersMax } = reader;
  await sql.one('select 1 from accounts where id = $1 for update', [accountId]);
  const known = await find(sql, accountId, name);
  if (known) return { kind: 'exists', reader: known };
  const count = await sql.one<{ used: number }>(
    'select count(*) as used from readers where account_id = $1',
    [accountId],
  );
  const used = count?.used ?? 0;
  if (used >= readersMax) return { kind: 'readers_limit', used };
  await sql.run(
    'insert into readers (account_id, name, rule_id, platform, place) values ($1, $2, $3, $4, $5)',
    [accountId, name, ruleId, platform, place],
  );
  return { kind: 'exists', reader };
}

async function remove(sql: Sql, change: Change, name: string): Promise<AnswerOf<'DeleteReader'> | null> {
  const row = await sql.one<ReaderRow & { deleted_at: Date }>(
    `delete from readers where account_id = $1 and name = $2
     returning name, rule_id, platform, created_at, acknowledged_at, now() as deleted_at`,
    [change.accountId, name],
  );
  if (!row) return null;
  const answer = { reader: name, deleted_at: row.deleted_at.toISOString() };
  await recordChange(sql, change, { targetId: name, before: toReader(row), after: null, answer });
  return answer;
}

function toReader(row: ReaderRow): Reader {
  return {
    name: row.name,
    rule_id: row.rule_id,
    platform: row.platform,
    created_at: row.created_at.toISOString(),
    acknowledged_at: row.acknowledged_at?.toISOString() ?? null,
  };
}
