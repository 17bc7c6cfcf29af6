import type { Admin } from '@earshot/server/admin';
import { command } from '../command.ts';
import { Failure } from '../failure.ts';
import { loadLocal } from '../load-local.ts';
import { flag, required, text } from '../options.ts';
import { confirm } from '../output/confirm.ts';
import { jsonLine } from '../output/printable.ts';
import { databaseOf, databaseUrl } from './admin-command.ts';

type Progress = Parameters<NonNullable<Parameters<Admin['deleteAccount']>[1]>>[0];

export const deleteCommand = command({
  name: 'delete',
  summary: 'delete an account and all its data',
  details:
    'Run it while the nodes run, and again if it is interrupted. It deletes the rules on the platforms, then the rows with the audit. Posts and pages stay until retention removes them.',
  args: { account: required(text('<account id>', 'as `earshot admin accounts list` shows it')) },
  options: { yes: flag('do not ask for confirmation'), ...databaseUrl },
  examples: ['earshot admin accounts delete acc_01kb2m9x4c7q5t8w3y6z1v0n2p --yes'],
  async run({ args: { account }, options: { yes, 'database-url': given } }, { env, isJson, screen }) {
    const database = await databaseOf(given, env);
    const question = `Delete the account ${account} with all its rules, matches and keys? This cannot be undone.`;
    if (!yes) await confirm(screen, question, 'This cannot be undone. Confirm it with --yes.');
    const { onDatabase } = await loadLocal(() => import('../local/admin-work.ts'));
    const working = onDatabase(database, (admin) =>
      admin.deleteAccount(account, (progress) => screen.note(words(progress))),
    );
    const deleted = await screen.waitFor('Deleting the account', working);
    if (deleted === null) throw new Failure('notFound', `There is no account ${account}.`);
    const { rules, rows, deletedAt } = deleted;
    if (isJson)
      return screen.print(
        jsonLine({
          account_id: account,
          deleted_at: deletedAt.toISOString(),
          rules_deleted: rules,
          rows_removed: rows,
        }),
      );
    screen.print(
      `${account} is deleted. This run deleted ${rules} rules and ${rows} rows. Only the id of the account and the times of its deletion are kept.`,
    );
  },
});

function words(progress: Progress): string {
  switch (progress.step) {
    case 'rules':
      return `${progress.left} rules are still to be deleted.`;
    case 'upstream':
      return `${progress.left} upstream rules are still to be removed by the nodes of ${progress.sources.join(', ')}.`;
    case 'settling':
      return `Waiting ${progress.seconds} s for requests and events in progress.`;
    case 'rows':
      return `${progress.removed} rows removed from ${progress.table}.`;
  }
}
