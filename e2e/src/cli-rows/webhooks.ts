import { eventually } from '@earshot/testkit';
import { expect } from 'vitest';
import { done, type Rows, type Scene, saying } from './scene.ts';

export const webhooksRows: Rows = {
  async 'webhooks create'(earshot, scene) {
    const { url } = scene.endpoint;
    scene.webhook = (await earshot.json(
      '--name',
      'pager',
      '--url',
      url,
      '--rule',
      scene.rule.rule_id,
    )) as Scene['webhook'];
    expect(scene.webhook).toMatchObject({
      webhook_id: expect.stringMatching(/^whk_/),
      secret: expect.stringMatching(/^whsec_/),
    });
    expect(await earshot('--name', 'pager', '--url', url)).toMatchObject({
      code: 1,
      stderr: saying('pager'),
    });
    expect(await earshot('--name', 'second', '--url', url)).toEqual(done(expect.stringMatching(/^whsec_/)));
  },

  async 'webhooks list'(earshot, scene) {
    expect(await earshot.json()).toMatchObject({
      webhooks: [{ name: 'second' }, { id: scene.webhook.webhook_id }],
    });
    expect(await earshot()).toEqual(
      done(expect.stringMatching(/active {2}rule_\w+ {2}any .* pager .*http:\/\/127/)),
    );
  },

  async 'webhooks update'(earshot, scene) {
    expect(await earshot.json(scene.webhook.webhook_id, '--platform', 'x', '--rule', 'any')).toMatchObject({
      platform: 'x',
      rule_id: null,
    });
    expect(await earshot(scene.webhook.webhook_id, '--platform', 'any')).toEqual(
      done(saying('platform  any')),
    );
    expect(await earshot(scene.webhook.webhook_id, '--format', 'slack', '--window', '90')).toEqual(
      done(expect.stringMatching(/http:\/\/127[^/]*\/…\s+format +slack\s+window +90 s/)),
    );
    const { url } = scene.endpoint;
    expect(await earshot.json(scene.webhook.webhook_id, '--format', 'standard', '--url', url)).toMatchObject({
      url,
      window_seconds: null,
    });
    expect(await earshot(scene.webhook.webhook_id)).toMatchObject({
      code: 5,
      stderr: saying('at least one field'),
    });
  },

  async 'webhooks retry'(earshot, scene) {
    expect(await earshot.json(scene.webhook.webhook_id)).toMatchObject({ state: 'active' });
    expect(await earshot('whk_unknown')).toMatchObject({ code: 3 });
  },

  async listen(earshot, scene) {
    const { url, received } = scene.endpoint;
    const before = received.length;
    expect(await earshot('--forward-to', 'http://192.0.2.1/')).toMatchObject({
      code: 2,
      stderr: saying('--allow-remote'),
    });
    const words = ['listen', '--forward-to', url, '--reader', 'listener', '--rule', scene.rule.rule_id];
    // A new reader of this command begins now; this one has the match of the rows before.
    await scene.cli.run(['readers', 'read', 'listener', '--rule', scene.rule.rule_id]);
    const running = scene.cli.start(words);
    await eventually(() => expect(received).toHaveLength(before + 1), { timeoutMs: 60_000 });
    await eventually(() => expect(running.output.stdout).toContain('204'), { timeoutMs: 60_000 });
    running.process.kill('SIGINT');
    expect(await running.exited).toBe(130);
    expect(await scene.cli.run(['readers', 'delete', 'listener', '--yes'])).toMatchObject({ code: 0 });
  },

  async 'webhooks rotate-secret'(earshot, scene) {
    const answer = await earshot.json(scene.webhook.webhook_id);
    expect(answer).toMatchObject({
      secret: expect.stringMatching(/^whsec_/),
      previous_valid_until: expect.any(String),
    });
    expect(answer).not.toMatchObject({ secret: scene.webhook.secret });
  },

  async 'webhooks test'(earshot, scene) {
    const before = scene.endpoint.received.length;
    expect(await earshot.json(scene.webhook.webhook_id)).toMatchObject({ outcome: 'delivered', status: 204 });
    expect(scene.endpoint.received).toHaveLength(before + 1);
    expect(await earshot(scene.webhook.webhook_id)).toEqual(done(saying('status   204')));
    const nowhere = await scene.cli.run([
      'webhooks',
      'create',
      '--name',
      'nowhere',
      '--url',
      'http://127.0.0.1:9/',
      '--json',
    ]);
    expect(await earshot(JSON.parse(nowhere.stdout).webhook_id)).toMatchObject({
      code: 1,
      stdout: saying('outcome'),
    });
  },

  async 'webhooks replay'(earshot, scene) {
    expect(await earshot.json(scene.webhook.webhook_id, '--since', '1h')).toMatchObject({
      from_match_id: expect.stringMatching(/^mat_/),
    });
    expect(await earshot(scene.webhook.webhook_id)).toMatchObject({
      code: 2,
      stderr: saying('Specify --since'),
    });
  },

  async 'webhooks deliveries'(earshot, scene) {
    await eventually(
      async () =>
        expect(await earshot.json(scene.webhook.webhook_id)).toMatchObject({
          deliveries: [{ outcome: 'delivered' }],
        }),
      { timeoutMs: 60_000 },
    );
    expect(await earshot(scene.webhook.webhook_id, '--outcome', 'delivered')).toEqual(
      done(saying('delivered  204')),
    );
  },

  async 'webhooks delete'(earshot, scene) {
    const refused = await earshot(scene.webhook.webhook_id);
    expect(refused).toMatchObject({ code: 2, stderr: saying('confirm it with --yes') });
    expect(await earshot.json(scene.webhook.webhook_id, '--yes')).toMatchObject({
      webhook_id: scene.webhook.webhook_id,
    });
    expect(await earshot(scene.webhook.webhook_id, '--yes')).toMatchObject({ code: 3 });
  },
};
