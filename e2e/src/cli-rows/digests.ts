import { expect } from 'vitest';
import { done, type Rows, saying } from './scene.ts';

let digestId = '';

/** Between the rows of webhooks: they need one that exists. */
export const digestsRows: Rows = {
  async 'digests create'(earshot, scene) {
    const to = ['--webhook', scene.webhook.webhook_id];
    const cron = ['--cron', '0 9 * * 1-5', '--time-zone', 'Europe/Berlin'];
    const created = await earshot.json('--name', 'morning', ...cron, ...to, '--empty', 'send');
    expect(created).toMatchObject({
      id: expect.stringMatching(/^dig_/),
      schedule: { cron: '0 9 * * 1-5', time_zone: 'Europe/Berlin' },
      to: { webhook_id: scene.webhook.webhook_id },
      empty: 'send',
    });
    digestId = String(Object(created).id);
    expect(await earshot('--name', 'batches', '--every', '3600', ...to)).toEqual(done(saying('first time')));
    for (const words of [to, [...cron, ...to, '--every', '60'], cron])
      expect(await earshot('--name', 'third', ...words)).toMatchObject({
        code: 2,
        stderr: saying('Specify either'),
      });
    expect(await earshot('--name', 'third', ...cron, '--email', 'a@example.com')).toMatchObject({
      code: 1,
      stderr: saying('EARSHOT_SMTP_URL'),
    });
  },

  async 'digests list'(earshot) {
    expect(await earshot.json()).toMatchObject({ digests: [{ name: 'batches' }, { id: digestId }] });
    expect(await earshot()).toEqual(done(expect.stringMatching(/every 3600 s .* batches/)));
  },

  async 'digests delete'(earshot, scene) {
    expect(await earshot(digestId)).toMatchObject({ code: 2, stderr: saying('confirm it with --yes') });
    const webhook = await scene.cli.run(['webhooks', 'delete', scene.webhook.webhook_id, '--yes']);
    expect(webhook).toMatchObject({ code: 1, stderr: saying('is sent to this webhook') });
    const listed = JSON.parse((await scene.cli.run(['digests', 'list', '--json'])).stdout);
    for (const { id } of listed.digests)
      expect(await earshot.json(id, '--yes')).toMatchObject({ digest_id: id });
    expect(await earshot(digestId, '--yes')).toMatchObject({ code: 3 });
  },
};
