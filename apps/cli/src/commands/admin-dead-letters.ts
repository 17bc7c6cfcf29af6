import type { CommandGroup } from '../command.ts';
import { Failure, usageFailure } from '../failure.ts';
import { flag, integer } from '../options.ts';
import { adminCommand } from './admin-command.ts';

const list = adminCommand({
  name: 'list',
  summary: 'list events that could not be stored, newest first',
  examples: ['earshot admin dead-letters list'],
  async work(database) {
    const letters = await database.listDeadLetters();
    const lines = letters.map(
      ({ id, created_at, error, retry_requested }) =>
        `${id}  ${created_at.toISOString()}  ${retry_requested ? 'waits for a retry' : error}`,
    );
    return { json: letters, text: lines.join('\n') || 'There are no dead letters.' };
  },
});

const retry = adminCommand({
  name: 'retry',
  summary: 'retry one dead letter, or all',
  options: { all: flag('every dead letter') },
  args: { id: integer('<id>', 'as the list shows it', { min: 1, max: 999_999_999 }) },
  examples: ['earshot admin dead-letters retry 17', 'earshot admin dead-letters retry --all'],
  async work(database, { args: { id = null }, options: { all } }) {
    if ((id === null) !== all) throw usageFailure('Specify an id or --all.');
    const count = await database.retryDeadLetters(id);
    if (id !== null && count === 0) throw new Failure('notFound', `There is no dead letter ${id}.`);
    return {
      json: { retrying: count },
      text: `A node with the role match will retry ${count} within 5 s.`,
    };
  },
});

export const deadLetters: CommandGroup = {
  name: 'dead-letters',
  summary: 'events that could not be stored',
  commands: [list, retry],
};
