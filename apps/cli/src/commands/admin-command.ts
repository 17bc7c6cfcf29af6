import type { Admin } from '@earshot/server/admin';
import { type Command, type Context, command, type Input, type NoOptions, type Options } from '../command.ts';
import { usageFailure } from '../failure.ts';
import { loadLocal } from '../load-local.ts';
import { text } from '../options.ts';
import { jsonLine } from '../output/printable.ts';

/** `json` for programs, `text` for people. */
export interface Outcome {
  readonly json: object;
  readonly text: string;
}

interface AdminCommand<Named extends Options, Placed extends Options>
  extends Pick<Command, 'name' | 'summary' | 'details' | 'examples'> {
  readonly options?: Named;
  readonly args?: Placed;
  readonly work: (
    database: Admin,
    input: Input<Named, Placed>,
    context: Pick<Context, 'env'>,
  ) => Promise<Outcome>;
}

export const databaseUrl = {
  'database-url': text(
    '<url>',
    'PostgreSQL of the installation (default: EARSHOT_MIGRATION_DATABASE_URL, or else EARSHOT_DATABASE_URL; both also with _FILE)',
  ),
};

export async function databaseOf(given: string | undefined, env: Context['env']): Promise<string> {
  const { readSetting } = await loadLocal(() => import('../local/admin-work.ts'));
  // The login of the server may not change accounts.
  const url = given || readSetting('migrationDatabaseUrl', env) || readSetting('databaseUrl', env);
  if (url) return url;
  throw usageFailure(
    'Specify the database with --database-url postgres://…, or set EARSHOT_MIGRATION_DATABASE_URL or EARSHOT_DATABASE_URL, also with _FILE.',
  );
}

/** A command of the operator that works directly on the database, because it may run before any key exists. */
export function adminCommand<
  const Named extends Options = NoOptions,
  const Placed extends Options = NoOptions,
>(definition: AdminCommand<Named, Placed>): Command {
  const { work, ...common } = definition;
  return command({
    ...common,
    options: { ...common.options, ...databaseUrl },
    async run(typed, { env, isJson, screen }) {
      // The options of the definition, and --database-url.
      const input = typed as Input<Named, Placed>;
      const { onDatabase } = await loadLocal(() => import('../local/admin-work.ts'));
      const url = await databaseOf(typed.options['database-url'], env);
      const working = onDatabase(url, (database) => work(database, input, { env }));
      const outcome = await screen.waitFor('Querying the database', working);
      screen.print(isJson ? jsonLine(outcome.json) : outcome.text);
    },
  });
}
