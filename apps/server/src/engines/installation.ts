import { type Database, openDatabase } from './database.ts';

/** What is wrong with the logins, for the operator: each lets a mistake of ours, or a thief, do more than it must. */
export async function findWideRights(database: Database, hasAccountLogin: boolean): Promise<string[]> {
  const role = await database.one<{ name: string; superuser: boolean; owner: boolean }>(
    `select current_user as name, rolsuper as superuser,
       pg_has_role(current_user, (select relowner from pg_class where oid = 'rules'::regclass), 'member') as owner
     from pg_roles where rolname = current_user`,
  );
  return [
    ...(role?.superuser ? [`EARSHOT_DATABASE_URL logs in as ${role.name}, a superuser`] : []),
    ...(role?.owner && !role.superuser
      ? [`EARSHOT_DATABASE_URL logs in as ${role.name}, who owns the tables`]
      : []),
    ...(hasAccountLogin ? [] : ['EARSHOT_ACCOUNT_DATABASE_URL is not set']),
  ];
}

/** Refuses a PostgreSQL that may lose committed transactions in a crash (I1). */
export async function assertDurable(url: string): Promise<void> {
  await using database = openDatabase({ url, connectionsMax: 1, onIdleError: () => undefined });
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    const row = await database.one<{ value: string }>('select current_setting($1) as value', [setting]);
    if (row?.value === 'off') {
      throw new Error(
        `PostgreSQL runs with ${setting} = off and would lose matches in a crash: set it to on.`,
      );
    }
  }
}

export interface Installation {
  readonly id: string;
  readonly cursorSecret: Buffer;
}

export async function readInstallation(database: Database): Promise<Installation> {
  const row = await database.one<{ id: string; cursor_secret: Buffer }>(
    'select id, cursor_secret from installation',
  );
  if (!row) throw new Error('the database has no installation row: was it migrated?');
  return { id: row.id, cursorSecret: row.cursor_secret };
}
