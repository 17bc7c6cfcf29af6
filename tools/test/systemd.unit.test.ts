import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { variablesOf } from '../../apps/server/src/config.ts';
import type { Setting } from '../../apps/server/src/setting-values.ts';
import { settings } from '../../apps/server/src/settings.ts';

const unit = await readFile(join(import.meta.dirname, '../../deploy/systemd/earshot.service'), 'utf8');
const dir = await mkdtemp(join(tmpdir(), 'earshot-systemd-'));
afterAll(() => rm(dir, { recursive: true }));

/** What `systemd-analyze` says about a unit; the Node of this machine may be elsewhere. */
async function analyze(text: string, ...command: string[]): Promise<string> {
  const file = join(dir, 'earshot.service');
  await writeFile(file, text.replace('/usr/bin/node', process.execPath));
  const run = promisify(execFile)('systemd-analyze', [...command, file]);
  const { stdout, stderr } = await run.catch(
    (failed: { stdout?: string; stderr?: string; code?: unknown }) => {
      if (failed.code === 'ENOENT') throw new Error('install the package systemd: it has systemd-analyze');
      return { stdout: failed.stdout ?? '', stderr: failed.stderr ?? '' };
    },
  );
  return `${stdout}${stderr}`;
}

test('systemd has nothing to say against the unit, and would have', async () => {
  expect(await analyze(unit, 'verify')).toBe('');
  expect(await analyze(unit.replace('ProtectSystem=', 'ProtectSytem='), 'verify')).toContain('ProtectSytem');
});

test('the unit is confined: systemd finds little that it may still do', async () => {
  const told = await analyze(unit, 'security', '--offline=true', '--threshold=20');
  expect(told).toMatch(/exposure level for earshot\.service: [01]\.\d OK/);
});

test('every setting in the unit is one of the server, and every secret is a credential that is loaded', () => {
  const known = Object.entries<Setting>(settings).flatMap(([name, setting]) => variablesOf(name, setting));
  const used = unit.match(/EARSHOT_\w+/g) ?? [];
  expect(known).toEqual(expect.arrayContaining(used));
  const loaded = [...unit.matchAll(/^LoadCredential=([\w-]+):\/etc\/earshot\/([\w-]+)$/gm)];
  for (const [, name, file] of loaded) expect(name).toBe(file);
  const read = [...unit.matchAll(/^Environment=EARSHOT_\w+_FILE=%d\/([\w-]+)$/gm)].map(([, name]) => name);
  expect(read).toEqual(loaded.map(([, name]) => name));
  expect(read).toHaveLength(7);
});
