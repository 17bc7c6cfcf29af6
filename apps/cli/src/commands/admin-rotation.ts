import { Failure, usageFailure } from '../failure.ts';
import { loadLocal } from '../load-local.ts';
import { flag } from '../options.ts';
import { adminCommand } from './admin-command.ts';

export const reencrypt = adminCommand({
  name: 'reencrypt',
  summary: 'encrypt the secrets of webhooks with the first key of EARSHOT_SECRETS_KEY',
  details:
    'One step of the rotation in docs/operations/rotation.md. EARSHOT_SECRETS_KEY has the new key, a comma and the old key, as on the nodes, which keep running. Can be repeated.',
  examples: ['earshot admin reencrypt'],
  async work(database, _, { env }) {
    const { readSetting } = await loadLocal(() => import('../local/admin-work.ts'));
    const keys = readSetting('secretsKey', env);
    if (!keys) throw usageFailure('Set EARSHOT_SECRETS_KEY or EARSHOT_SECRETS_KEY_FILE, as on the nodes.');
    const { reencrypted, current, unreadable } = await database.reencrypt(keys);
    const counts = `${reencrypted} secrets encrypted anew, ${current} were before.`;
    if (unreadable.length > 0)
      throw new Failure(
        'failed',
        `${counts} None of the keys reads those of ${unreadable.length} webhooks: ${unreadable.slice(0, 10).join(', ')}. Add the key that they were encrypted with, or let their owners rotate them.`,
      );
    return { json: { reencrypted, current, unreadable }, text: counts };
  },
});

export const rotateCursorSecret = adminCommand({
  name: 'rotate-cursor-secret',
  summary: 'sign cursors with a new secret, and still accept those of the previous one',
  details:
    'Run it while the nodes run, all of them in this version, with the login that owns the tables. Cursors are signed with the new secret 15 seconds later. Those of the previous secret are accepted until the next rotation, or until --forget.',
  options: { forget: flag('do not rotate, but refuse cursors that were signed before the last rotation') },
  examples: ['earshot admin rotate-cursor-secret', 'earshot admin rotate-cursor-secret --forget'],
  async work(database, { options: { forget } }) {
    const done = forget ? await database.forgetCursorSecret() : await database.rotateCursorSecret();
    if (!done)
      throw new Failure(
        'failed',
        'Not every node has read the last rotation yet: try again in half a minute.',
      );
    return {
      json: { forgotten: forget, rotated: !forget },
      text: forget
        ? 'Cursors from before the last rotation are refused within 2 seconds.'
        : 'New cursors are signed with a new secret in 15 seconds. Older ones are accepted until the next rotation, or until --forget.',
    };
  },
});
