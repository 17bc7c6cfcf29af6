import { Failure, usageFailure } from '../failure.ts';
import { loadLocal } from '../load-local.ts';
import { flag } from '../options.ts';
import { adminCommand } from './admin-command.ts';

export const reencrypt = adminCommand({
  name: 'reencrypt',
  summary: 'encrypt webhook signing secrets with the first key of EARSHOT_SECRETS_KEY',
  details:
    'Set EARSHOT_SECRETS_KEY to the new key, a comma and the old key, as on the nodes, which keep running: docs/operations/rotation.md.',
  examples: ['earshot admin reencrypt'],
  async work(database, _, { env }) {
    const { readSetting } = await loadLocal(() => import('../local/admin-work.ts'));
    const keys = readSetting('secretsKey', env);
    if (!keys) throw usageFailure('Set EARSHOT_SECRETS_KEY or EARSHOT_SECRETS_KEY_FILE, as on the nodes.');
    const { reencrypted, current, unreadable } = await database.reencrypt(keys);
    const counts = `${reencrypted} secrets encrypted again, ${current} already had the first key.`;
    if (unreadable.length > 0)
      throw new Failure(
        'failed',
        `${counts} No key decrypts the secrets of ${unreadable.length} webhooks: ${unreadable.slice(0, 10).join(', ')}. Add the key that they were encrypted with, or let their owners rotate them.`,
      );
    return { json: { reencrypted, current, unreadable }, text: counts };
  },
});

export const rotateCursorSecret = adminCommand({
  name: 'rotate-cursor-secret',
  summary: 'sign cursors with a new secret, and still accept cursors of the previous one',
  details:
    'Run it while all nodes run in this version. They use the new secret after 15 s, and accept cursors of the previous one until the next rotation, or until --forget.',
  options: { forget: flag('do not rotate, but refuse cursors that were signed before the last rotation') },
  examples: ['earshot admin rotate-cursor-secret', 'earshot admin rotate-cursor-secret --forget'],
  async work(database, { options: { forget } }) {
    const done = forget ? await database.forgetCursorSecret() : await database.rotateCursorSecret();
    if (!done)
      throw new Failure('failed', 'Not every node has read the last rotation yet. Try again in 30 s.');
    return {
      json: { forgotten: forget, rotated: !forget },
      text: forget
        ? 'Cursors from before the last rotation are refused within 2 s.'
        : 'The nodes sign cursors with the new secret in 15 s. They accept older ones until the next rotation, or until --forget.',
    };
  },
});
