import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
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

  test('confirms that each alert fires and stays silent as expected', {
    timeout: 240_000,
  }, async () => {
    expect(await run('test', 'rules', 'alerts.test.yaml')).toContain('SUCCESS');
  });
});
