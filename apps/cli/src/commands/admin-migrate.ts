import { command } from '../command.ts';
import { usageFailure } from '../failure.ts';
import { loadLocal } from '../load-local.ts';
import { flag } from '../options.ts';
import { jsonLine } from '../output/printable.ts';
import { databaseOf, databaseUrl } from './admin-command.ts';

export const migrateCommand = command({
  name: 'migrate',
  summary: 'show or apply the pending migrations of the database',
  details:
    'All pending migrations run in one transaction: if one fails, nothing changes. Stop the nodes first.',
  options: {
    plan: flag('only list the pending migrations'),
    apply: flag('apply them'),
    ...databaseUrl,
  },
  examples: ['earshot admin migrate --plan', 'earshot admin migrate --apply'],
  async run({ options: { plan, apply, 'database-url': given } }, { env, isJson, screen }) {
    if (plan === apply) throw usageFailure('Specify --plan or --apply.');
    const url = await databaseOf(given, env);
    const { migrate, planMigrations } = await loadLocal(() => import('../local/admin-work.ts'));
    const working = plan ? planMigrations(url) : migrate(url);
    const names = await screen.waitFor(plan ? 'Querying the database' : 'Migrating the database', working);
    if (isJson) return screen.print(jsonLine(plan ? { missing: names } : { applied: names }));
    if (names.length === 0) return screen.print('There are no pending migrations.');
    screen.print(`${plan ? 'Pending' : 'Applied'}:\n${names.join('\n')}`);
  },
});
