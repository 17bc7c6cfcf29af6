import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { builtDir } from '../../apps/server/build/build-server.ts';
import { variablesOf } from '../../apps/server/src/config/config.ts';
import { settings } from '../../apps/server/src/config/settings.ts';
import type { Setting } from '../../apps/server/src/config/values.ts';

const root = join(import.meta.dirname, '../..');
const unit = await readFile(join(root, 'deploy/systemd/earshot.service'), 'utf8');
const dir = await mkdtemp(join(tmpdir(), 'earshot-systemd-'));
afterAll(() => rm(dir, { recursive: true }));

/** The report of `systemd-analyze` on a unit; the programs of this machine may be elsewhere. */
async function analyze(text: string, ...command: string[]): Promise<string> {
  const file = join(dir, 'earshot.service');
  await writeFile(file, text.replace(/\/usr\/bin\/(node|nats-server)/, process.execPath));
  const run = promisify(execFile)('systemd-analyze', [...command, file]);
  const { stdout, stderr } = await run.catch(
    (failed: { stdout?: string; stderr?: string; code?: unknown }) => {
      if (failed.code === 'ENOENT') throw new Error('install the package systemd: it has systemd-analyze');
      return { stdout: failed.stdout ?? '', stderr: failed.stderr ?? '' };
    },
  );
  return `${stdout}${stderr}`;
}

test('systemd accepts both units, and rejects a broken one', async () => {
  expect(await analyze(unit, 'verify')).toBe('');
  const nats = await readFile(join(root, 'deploy/systemd/nats-server.service'), 'utf8');
  expect(await analyze(nats, 'verify')).toBe('');
  expect(unit).toMatch(/^After=.* nats-server\.service$/m);
  expect(await analyze(unit.replace('ProtectSystem=', 'ProtectSytem='), 'verify')).toContain('ProtectSytem');
});

test('the unit starts the server of a clone', () => {
  const [, command] = /^ExecStart=\/usr\/bin\/node (\S+)$/m.exec(unit) ?? [];
  expect(join(root, command ?? '')).toBe(join(builtDir, 'main.mjs'));
  expect(unit).toMatch(/^WorkingDirectory=\/opt\/earshot$/m);
});

test('the unit is confined: systemd reports only the permissions that it needs', async () => {
  const checks: { name: string; set: boolean | null }[] = JSON.parse(
    await analyze(unit, 'security', '--offline=true', '--json=short'),
  );
  expect(checks.length).toBeGreaterThan(50);
  expect(
    checks
      .filter(({ set }) => set === false)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual([
    // The clock, which ProtectClock allows it to read.
    'DeviceAllow=',
    // It connects to PostgreSQL, NATS and the platforms, and accepts callers.
    'IPAddressDeny=',
    // Node generates code at run time.
    'MemoryDenyWriteExecute=',
    'PrivateMounts=',
    'PrivateNetwork=',
    'RestrictAddressFamilies=~AF_(INET|INET6)',
    'RestrictAddressFamilies=~AF_UNIX',
    'RootDirectory=/RootImage=',
  ]);
});

test('every setting in the unit is a server setting, and every secret is a loaded credential', () => {
  const known = Object.values<Setting>(settings).flatMap(variablesOf);
  const used = unit.match(/EARSHOT_\w+/g) ?? [];
  expect(known).toEqual(expect.arrayContaining(used));
  const loaded = [...unit.matchAll(/^LoadCredential=([\w-]+):\/etc\/earshot\/([\w-]+)$/gm)];
  for (const [, name, file] of loaded) expect(name).toBe(file);
  const read = [...unit.matchAll(/^Environment=EARSHOT_\w+_FILE=%d\/([\w-]+)$/gm)].map(([, name]) => name);
  expect(read).toEqual(loaded.map(([, name]) => name));
  expect(read).toHaveLength(7);
});
