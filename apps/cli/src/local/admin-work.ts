import { type Admin, openAdmin } from '@earshot/server/admin';
import { Failure } from '../failure.ts';

export { listForeignRules, migrate, planMigrations, readSetting } from '@earshot/server/admin';

/** SQLSTATE insufficient_privilege. */
const permissionDenied = '42501';

/** Connects to the database for one operation of the operator. */
export async function onDatabase<Result>(
  url: string,
  work: (database: Admin) => Promise<Result>,
): Promise<Result> {
  await using database = await openAdmin(url);
  try {
    return await work(database);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === permissionDenied)
      throw new Failure(
        'refused',
        `The database login ${new URL(url).username} may not do this. Use the login that owns the tables: set EARSHOT_MIGRATION_DATABASE_URL, or --database-url.`,
        { cause: error },
      );
    throw error;
  }
}
