import { eventually } from '@earshot/testkit';
import { expect } from 'vitest';
import type { Database } from '../src/engines/database.ts';

/**
 * Delays the next statement that updates the table: it has its `now()`, but waits for its release before it locks or changes
 * anything. Later statements do not wait.
 */
export async function delayNextUpdate(database: Database, table: string) {
  await database.run('create sequence updates');
  await database.run(`create function delay_first_update() returns trigger language plpgsql as $$
    begin
      if nextval('updates') = 1 then perform pg_advisory_xact_lock(1); end if;
      return null;
    end $$`);
  await database.run(
    `create trigger delayed before update on ${table} for each statement execute function delay_first_update()`,
  );
  const [held, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = database.transaction(async (sql) => {
    await sql.run('select pg_advisory_xact_lock(1)');
    held.resolve();
    await release.promise;
  });
  await held.promise;
  const end = async (): Promise<void> => {
    release.resolve();
    await holding;
  };
  return {
    waits: () =>
      eventually(
        async () => {
          expect(
            await database.one(`select 1 from pg_locks where locktype = 'advisory' and not granted`),
          ).not.toBeNull();
        },
        { timeoutMs: 10_000 },
      ),
    release: end,
    [Symbol.asyncDispose]: end,
  };
}
