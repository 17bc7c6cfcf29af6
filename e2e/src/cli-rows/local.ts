import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@earshot/testkit';
import { expect, inject } from 'vitest';
import { xToken } from '../world.ts';
import { type Rows, type Scene, saying } from './scene.ts';

export const localRows: Rows = {
  async completion(earshot, { cli }) {
    const sourced = 'source <("$1" completion bash) && complete -p earshot';
    const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', sourced, 'bash', cli.file]);
    expect(stdout).toBe('complete -F _earshot earshot\n');
    expect(await earshot.json('fish')).toEqual({ script: saying('complete -c earshot') });
    expect(await earshot('zsh')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^#compdef earshot/),
    });
    expect(await earshot('powershell')).toMatchObject({ code: 2, stderr: saying('bash or zsh or fish') });
  },

  async doctor(earshot, { world, cli }) {
    const urls = { EARSHOT_X_BASE_URL: world.sandbox.url, EARSHOT_FIREHOSE_BASE_URL: world.sandbox.url };
    const env = {
      ...urls,
      EARSHOT_X_TOKENS: '',
      EARSHOT_FIREHOSE_TOKENS: '',
      EARSHOT_TEST: 'upstreamPace=50',
    };
    const report = join(cli.dir, 'doctor.json');
    const outcome = await earshot.with({ env }, '--steps', 'F0', '--report', report);
    expect(outcome).toMatchObject({ code: 0, stdout: expect.stringMatching(/F-29 +agrees/) });
    expect(JSON.parse(await readFile(report, 'utf8'))).toMatchObject({ left_behind: 0 });
    const inUse = { ...env, EARSHOT_X_TOKENS: `main=${xToken}` };
    expect(await earshot.with({ env: inUse })).toMatchObject({ code: 1, stderr: saying('of Earshot') });
  },

  async demo(_, scene) {
    expect(await scene.cli.run(['demo'])).toMatchObject({
      code: 1,
      stderr: saying('only in the repository'),
    });
    const env = { EARSHOT_NATS_SERVER: inject('natsServer') };
    const running = scene.cli.start(['demo', '--json'], { env, file: scene.cli.inRepository });
    await eventually(() => running.output.stdout.endsWith('\n'), { timeoutMs: 120_000 });
    expect(JSON.parse(running.output.stdout)).toMatchObject({ base_url: saying('http://127.0.0.1:') });
    running.process.kill('SIGTERM');
    expect(await running.exited).toBe(0);
  },

  async 'services up'(_, scene) {
    expect(await services(scene, 'up')).toEqual({
      databaseUrl: saying('postgres://earshot_runtime:'),
      accountDatabaseUrl: saying('postgres://earshot_account:'),
      migrationDatabaseUrl: saying('postgres://earshot_owner:'),
      natsUrl: saying('nats://earshot:'),
    });
    // It holds the passwords of both engines.
    const { mode } = await stat(join(scene.cli.dir, 'services/state.json'));
    expect((mode & 0o777).toString(8)).toBe('600');
  },

  async 'services status'(_, scene) {
    expect(await services(scene, 'status')).toMatchObject({ running: true });
  },

  async 'services down'(_, scene) {
    expect(await services(scene, 'down')).toEqual({ stopped: ['postgres', 'nats n1'] });
    expect(await services(scene, 'status')).toMatchObject({ running: false });
  },

  async 'admin create-account'(_, scene) {
    expect(await admin(scene, 'create-account', '--name', 'Acme', '--plan', 'free')).toMatchObject({
      plan: 'free',
    });
  },

  async 'admin accounts list'(_, scene) {
    const { accountId } = scene.account;
    expect(await admin(scene, 'accounts', 'list')).toMatchObject({
      days: 2,
      accounts: expect.arrayContaining([expect.objectContaining({ id: accountId, state: 'active' })]),
    });
  },

  async 'admin accounts show'(_, scene) {
    const { accountId } = scene.account;
    expect(await admin(scene, 'accounts', 'show', accountId)).toMatchObject({ id: accountId, plan: 'paid' });
  },

  async 'admin accounts plan'(_, scene) {
    const { accountId } = await scene.world.newAccount();
    const changed = { account_id: accountId, plan: 'free' };
    expect(await admin(scene, 'accounts', 'plan', accountId, 'free')).toEqual(changed);
  },

  async 'admin accounts limits'(_, scene) {
    const { accountId } = await scene.world.newAccount();
    const limits = { account_id: accountId, limits: { keys: 7 } };
    expect(await admin(scene, 'accounts', 'limits', accountId, '--keys', '7')).toEqual(limits);
    expect(await admin(scene, 'accounts', 'limits', accountId)).toMatchObject({ limits: { keys: 7 } });
  },

  async 'admin plans list'(_, scene) {
    expect(await admin(scene, 'plans', 'list')).toMatchObject({
      plans: [expect.objectContaining({ name: 'paid' }), expect.objectContaining({ name: 'free', rules: 3 })],
    });
  },

  async 'admin plans set'(_, scene) {
    const changed = { name: 'free', digests: 7 };
    expect(await admin(scene, 'plans', 'set', 'free', 'digests=7')).toMatchObject(changed);
  },

  async 'admin accounts suspend'(_, scene) {
    const { accountId } = await scene.world.newAccount();
    const state = { account_id: accountId, state: 'suspended' };
    expect(await admin(scene, 'accounts', 'suspend', accountId)).toEqual(state);
  },

  async 'admin accounts resume'(_, scene) {
    const { accountId } = await scene.world.newAccount();
    const state = { account_id: accountId, state: 'active' };
    expect(await admin(scene, 'accounts', 'resume', accountId)).toEqual(state);
  },

  async 'admin accounts delete'(_, scene) {
    // What it does takes half a minute: delete-account.e2e.test.ts.
    const words = ['admin', 'accounts', 'delete', 'acc_unknown', '--database-url', scene.world.databaseUrl];
    const attempt = (...more: string[]) =>
      scene.cli.run([...words, ...more], { file: scene.cli.inRepository });
    expect(await attempt()).toMatchObject({ code: 2, stderr: saying('--yes') });
    expect(await attempt('--yes')).toMatchObject({ code: 3, stderr: saying('no account acc_unknown') });
  },

  async 'admin reencrypt'(_, scene) {
    const env = {
      EARSHOT_DATABASE_URL: scene.world.databaseUrl,
      EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
    };
    const words = ['admin', 'reencrypt'];
    const outcome = await scene.cli.run(words, { file: scene.cli.inRepository, env });
    // The webhooks of the scene are encrypted with another key.
    expect(outcome.stderr + outcome.stdout).toMatch(/None of the keys reads|0 secrets encrypted anew/);
  },

  async 'admin rotate-cursor-secret'(_, scene) {
    expect(await admin(scene, 'rotate-cursor-secret')).toEqual({ forgotten: false, rotated: true });
  },

  async 'admin create-key'(_, scene) {
    const created = await admin(
      scene,
      'create-key',
      '--account',
      scene.account.accountId,
      '--scopes',
      'rules:read',
    );
    expect(created).toMatchObject({ scopes: ['rules:read'], key: expect.stringMatching(/^esk_/) });
  },

  async 'admin revoke-key'(_, scene) {
    const { keyId } = await scene.world.newAccount();
    expect(await admin(scene, 'revoke-key', keyId)).toEqual({ key_id: keyId, revoked: true });
  },

  async 'admin budget'(_, scene) {
    const { accountId } = await scene.world.newAccount();
    const budget = { period: 'month', usd: 100, on_reached: 'pause' };
    expect(await admin(scene, 'budget', accountId, '--set', 'usd=100/month')).toMatchObject({ budget });
    expect(await admin(scene, 'budget', accountId)).toEqual({ account_id: accountId, budget });
    expect(await admin(scene, 'budget', accountId, '--set', 'none')).toMatchObject({ budget: null });
  },

  async 'admin upstream-rules'(_, scene) {
    const api = scene.server.api(scene.account);
    const { rule_id } = await api.createRule({ x: 'quince' });
    const [upstream] = (await scene.world.sandbox.xState(xToken)).rules.filter(
      ({ value }) => value === 'quince',
    );
    expect(upstream?.id).toBeTypeOf('string');
    expect(await admin(scene, 'upstream-rules', '--rule', rule_id)).toMatchObject([
      { rule_id, platform: 'x', upstream_rule_id: upstream?.id, state: 'registered', value: 'quince' },
    ]);
    await api.deleteRule(rule_id);
  },

  async 'admin foreign-rules'(_, scene) {
    const { databaseUrl, nats, sandbox } = scene.world;
    const env = {
      EARSHOT_DATABASE_URL: databaseUrl,
      EARSHOT_NATS_URL: nats.url,
      EARSHOT_X_TOKENS: `main=${xToken}`,
      EARSHOT_X_BASE_URL: sandbox.url,
    };
    const listed = await inRepository(scene, ['admin', 'foreign-rules'], env);
    expect(listed).toEqual({ deleted: false, rules: [] });
  },

  async 'admin forget'(_, scene) {
    expect(await admin(scene, 'forget', '--author', '@nobody')).toEqual({ items: 0, matches: 0 });
  },

  async 'admin after-restore'(_, scene) {
    const done = { log_lost: false, copy: false, webhooks_paused: 0 };
    expect(await admin(scene, 'after-restore')).toEqual(done);
  },
  async 'admin migrate'(_, scene) {
    expect(await admin(scene, 'migrate', '--plan')).toEqual({ missing: [] });
    expect(await admin(scene, 'migrate', '--apply')).toEqual({ applied: [] });
  },

  async 'admin dead-letters list'(_, scene) {
    expect(await admin(scene, 'dead-letters', 'list')).toEqual([]);
  },

  async 'admin usage'(_, scene) {
    const bill = await admin(scene, 'usage', '--days', '2');
    expect(bill).toMatchObject({
      by: 'source',
      bill: expect.arrayContaining([expect.objectContaining({ platform: 'x', kind: 'post' })]),
    });
    expect(await admin(scene, 'usage', '--by', 'account')).toMatchObject({ by: 'account' });
  },

  async 'admin dead-letters retry'(_, scene) {
    expect(await admin(scene, 'dead-letters', 'retry', '--all')).toEqual({ retrying: 0 });
    const words = ['admin', 'dead-letters', 'retry', '17', '--database-url', scene.world.databaseUrl];
    expect(await scene.cli.run(words, { file: scene.cli.inRepository })).toMatchObject({
      code: 3,
      stderr: saying('no dead letter 17'),
    });
  },
};

/** The commands that need the repository, on the file where the build put it. */
async function inRepository({ cli }: Scene, words: readonly string[], env: Record<string, string>) {
  const { code, stdout, stderr } = await cli.run([...words, '--json'], { file: cli.inRepository, env });
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as unknown;
}

const admin = (scene: Scene, ...words: string[]) =>
  inRepository(scene, ['admin', ...words], { EARSHOT_DATABASE_URL: scene.world.databaseUrl });

const services = (scene: Scene, ...words: string[]) =>
  inRepository(scene, ['services', ...words, '--dir', join(scene.cli.dir, 'services')], {
    EARSHOT_NATS_SERVER: inject('natsServer'),
  });
