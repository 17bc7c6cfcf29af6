import { type Admin, openAdmin } from '@earshot/server/admin';

export { listForeignRules, migrate, planMigrations, readSetting } from '@earshot/server/admin';

/** Connects to the database for one operation of the operator. */
export async function onDatabase<Result>(
  url: string,
  work: (database: Admin) => Promise<Result>,
): Promise<Result> {
  await using database = await openAdmin(url);
  return await work(database);
}
