import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { skipUnless } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';

const promtool = '/usr/bin/promtool';

describe('promtool', skipUnless('prometheus', existsSync(promtool) ? null : `no ${promtool}`), () => {
  const run = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(promtool, args, {
      cwd: fileURLToPath(new URL('../../../../deploy', import.meta.url)),
    });
    return stdout;
  };

  test('accepts the configuration and the alerts', async () => {
    expect(await run('check', 'config', 'prometheus.yaml')).toMatch(/[1-9]\d* rules found/);
  });

  test('accepts the rules for disks, backups and Prometheus that the documentation suggests', async () => {
    const page = readFileSync(new URL('../../../../docs/operations/monitoring.md', import.meta.url), 'utf8');
    const [, rules = ''] = /```yaml\n(groups:[^]*?)```/.exec(page) ?? [];
    await using folder = await mkdtempDisposable(join(tmpdir(), 'rules-'));
    const file = join(folder.path, 'rules.yaml');
    writeFileSync(file, rules);
    expect(await run('check', 'rules', file)).toContain('SUCCESS: 3 rules found');
  });

  test('confirms that each alert fires and stays silent as expected', {
    timeout: 240_000,
  }, async () => {
    expect(await run('test', 'rules', 'alerts.test.yaml')).toContain('SUCCESS');
  });
});
