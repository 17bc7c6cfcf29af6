import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AnswerOf } from '@earshot/contract';
import { expect } from 'vitest';
import { done, type Rows, saying } from './scene.ts';

export const accountRows: Rows = {
  async login(earshot, scene) {
    const env = { XDG_CONFIG_HOME: join(scene.cli.dir, 'config'), EARSHOT_URL: '', EARSHOT_API_KEY: '' };
    const input = `${scene.account.key}\n`;
    const outcome = await earshot.with({ env, input }, '--url', scene.server.url);
    const file = join(scene.cli.dir, 'config/earshot/connection.json');
    expect(outcome).toEqual(done(`Logged in to ${scene.server.url}. The key is in ${file}.\n`));
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      url: scene.server.url,
      key: scene.account.key,
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await scene.cli.run(['rules', 'list', '--json'], { env })).toMatchObject({ code: 0 });

    const bad = await earshot.with(
      { env },
      '--url',
      scene.server.url,
      '--key',
      `${scene.account.key.slice(0, -1)}!`,
    );
    expect(bad).toMatchObject({ code: 4, stdout: '', stderr: saying('The server does not accept the key.') });
    expect(bad.stderr).not.toContain('esk_');
    expect(JSON.parse(await readFile(file, 'utf8')).key).toBe(scene.account.key);
  },

  async logout(earshot, scene) {
    const env = { XDG_CONFIG_HOME: join(scene.cli.dir, 'config'), EARSHOT_URL: '', EARSHOT_API_KEY: '' };
    expect(await earshot.with({ env })).toEqual(done('Logged out.\n'));
    expect(await scene.cli.run(['rules', 'list'], { env })).toMatchObject({
      code: 4,
      stderr: saying('earshot login'),
    });
    expect(await earshot.with({ env })).toMatchObject({ code: 3, stderr: 'Nobody is logged in.\n' });
  },

  async console(earshot, scene) {
    const link = expect.stringMatching(new RegExp(`^${scene.server.url}/#code=[\\w-]{43}\\n?$`));
    expect(await earshot()).toEqual(done(link));
    expect(await earshot.json()).toEqual({ url: link, expires_at: expect.any(String) });
    const env = { EARSHOT_API_KEY: 'esk_unknown' };
    expect(await earshot.with({ env })).toMatchObject({ code: 4, stderr: saying('does not accept the key') });
  },

  async 'keys create'(earshot, scene) {
    const created = await earshot.json('--scopes', 'rules:read', '--expires', '90d');
    expect(created).toMatchObject({ scopes: ['rules:read'], key: expect.stringMatching(/^esk_/) });
    const env = { EARSHOT_API_KEY: String(Reflect.get(Object(created), 'key')) };
    expect(await scene.cli.run(['rules', 'list'], { env })).toMatchObject({ code: 0 });
    const refused = await scene.cli.run(['rules', 'delete', scene.rule.rule_id, '--yes'], { env });
    expect(refused).toMatchObject({ code: 4, stderr: saying('It lacks the scope rules:write') });
    expect(await earshot()).toEqual(done(expect.stringMatching(/^esk_\w+\n\nStore this key now/)));
  },

  async 'keys list'(earshot, scene) {
    expect(await earshot.json()).toMatchObject({
      keys: [{}, { scopes: ['rules:read'] }, { id: scene.account.keyId }],
    });
    const { stdout } = await earshot();
    expect(stdout).toContain(scene.account.keyId);
    expect(stdout).not.toContain(scene.account.key);
  },

  async 'keys revoke'(earshot, scene) {
    const { keys } = JSON.parse(
      (await scene.cli.run(['keys', 'list', '--json'])).stdout,
    ) as AnswerOf<'ListKeys'>;
    const [newest] = keys;
    expect(await earshot(newest?.id ?? '')).toMatchObject({ code: 2, stderr: saying('--yes') });
    expect(await earshot.json(newest?.id ?? '', '--yes')).toMatchObject({ key_id: newest?.id });
    expect(await earshot('key_unknown', '--yes')).toMatchObject({ code: 3 });
  },

  async audit(earshot) {
    expect(await earshot.json('--limit', '1')).toMatchObject({ entries: [{ operation: 'RevokeKey' }] });
    expect(await earshot()).toEqual(done(expect.stringMatching(/UpdateRule +rule_\w+ +key_/)));
  },
};
