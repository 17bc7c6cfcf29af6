import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MissingProgram } from '../src/missing-program.ts';
import { findNatsServer } from '../src/nats-server-binary.ts';
import { findPostgresBinaries } from '../src/postgres-binaries.ts';

/** A machine with only these programs: no apt-get, so nothing is downloaded. */
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'earshot-programs-'));
  vi.stubEnv('PATH', join(dir, 'path'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(dir, { recursive: true });
});

async function install(folder: string, names: readonly string[], version: string): Promise<string> {
  const bin = join(dir, folder);
  await mkdir(bin, { recursive: true });
  for (const name of names) {
    await writeFile(join(bin, name), `#!/bin/sh\necho '${version}'\n`);
    await chmod(join(bin, name), 0o755);
  }
  return bin;
}

const findPostgres = () => findPostgresBinaries(join(dir, 'debian'));
const findNats = () => findNatsServer({ cacheDir: join(dir, 'cache') });
const postgres = ['initdb', 'postgres'];

test('a machine without PostgreSQL gets commands that install it', async () => {
  const failure = findPostgres();
  await expect(failure).rejects.toBeInstanceOf(MissingProgram);
  await expect(failure).rejects.toThrow(/PostgreSQL 15 or newer are missing.*apt-get install postgresql\n/s);
});

test('an older PostgreSQL is named with its folder', async () => {
  const bin = await install('debian/14/bin', postgres, 'postgres (PostgreSQL) 14.19');
  await expect(findPostgres()).rejects.toThrow(`PostgreSQL 14 in ${bin} is too old.`);
});

test.each(['path', 'debian/15/bin'])('PostgreSQL is found in %s, beside an older one', async (folder) => {
  await install('debian/14/bin', postgres, 'postgres (PostgreSQL) 14.19');
  const bin = await install(folder, postgres, 'postgres (PostgreSQL) 15.14');
  expect(await findPostgres()).toBe(bin);
});

test('a machine without nats-server gets the ways to install it, which lead to success', async () => {
  const failure = findNats();
  await expect(failure).rejects.toBeInstanceOf(MissingProgram);
  await expect(failure).rejects.toThrow(/put it on PATH or set EARSHOT_NATS_SERVER/);
  const configured = join(await install('elsewhere', ['nats-server'], 'nats-server: v2.14.5'), 'nats-server');
  expect(await findNatsServer({ cacheDir: join(dir, 'cache'), configured })).toBe(configured);
  const onPath = join(await install('path', ['nats-server'], 'nats-server: v2.15.0'), 'nats-server');
  expect(await findNats()).toBe(onPath);
});
