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
    'Needs the login that owns the tables. All pending migrations run in one transaction: if one fails, nothing has changed. Stop the nodes first.',
  options: {
    plan: flag('only list what would be applied'),
    apply: flag('apply it'),
    ...databaseUrl,
  },
  examples: ['earshot admin migrate --plan', 'earshot admin migrate --apply'],
  async run({ options: { plan, apply, 'database-url': given } }, { env, isJson, screen }) {
    if (plan === apply) throw usageFailure('Specify --plan or --apply.');
    const url = await databaseOf(given, env);
    const { migrate, planMigrations } = await loadLocal(() => import('../local/admin-work.ts'));
    const working = plan ? planMigrations(url) : migrate(url);
    const names = await screen.waitFor(plan ? 'Asking the database' : 'Migrating the database', working);
    if (isJson) return screen.print(jsonLine(plan ? { missing: names } : { applied: names }));
    if (names.length === 0) return screen.print('Nothing is missing.');
    screen.print(`${plan ? 'To be applied' : 'Applied'}:\n${names.join('\n')}`);
  },
});
