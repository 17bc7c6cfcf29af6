import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  connectionFile,
  findConnection,
  forgetConnection,
  readUrl,
  storeConnection,
} from '../src/connection.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'earshot-connection-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const stored = { url: 'https://earshot.example', key: 'esk_stored' };

test('the file is below $XDG_CONFIG_HOME or the home folder', () => {
  expect(connectionFile({ XDG_CONFIG_HOME: '/c', HOME: '/h' })).toBe('/c/earshot/connection.json');
  expect(connectionFile({ HOME: '/h' })).toBe('/h/.config/earshot/connection.json');
});

test('a stored connection is found, and only its owner may read the file', async () => {
  const env = { XDG_CONFIG_HOME: dir };
  const file = await storeConnection(env, stored);
  expect(await findConnection(env)).toEqual(stored);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(dir, 'earshot'))).mode & 0o777).toBe(0o700);
  expect(await readdir(join(dir, 'earshot'))).toEqual(['connection.json']);
});

test('a file that others could read is replaced by one that they cannot', async () => {
  const env = { XDG_CONFIG_HOME: dir };
  const file = await storeConnection(env, { ...stored, key: 'esk_old' });
  await chmod(file, 0o644);
  await storeConnection(env, stored);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, 'utf8')).not.toContain('esk_old');
});

test('the environment overrides the file', async () => {
  const env = { XDG_CONFIG_HOME: dir };
  await storeConnection(env, stored);
  const both = { ...env, EARSHOT_URL: 'http://127.0.0.1:1/', EARSHOT_API_KEY: 'esk_env' };
  expect(await findConnection(both)).toEqual({ url: 'http://127.0.0.1:1', key: 'esk_env' });
  expect(await findConnection({ ...env, EARSHOT_API_KEY: 'esk_env' })).toEqual({
    url: stored.url,
    key: 'esk_env',
  });
  expect(await findConnection({ ...env, EARSHOT_URL: `${stored.url}/` })).toEqual(stored);
});

test('a stored key is not sent to another server', async () => {
  const env = { XDG_CONFIG_HOME: dir };
  await storeConnection(env, stored);
  await expect(findConnection({ ...env, EARSHOT_URL: 'http://other.example' })).rejects.toMatchObject({
    ending: 'refused',
    message: expect.stringContaining('Set EARSHOT_API_KEY as well'),
  });
});

test('without a login, the error suggests to log in', async () => {
  const env = { XDG_CONFIG_HOME: dir };
  await expect(findConnection(env)).rejects.toMatchObject({
    ending: 'refused',
    message: expect.stringContaining('earshot login'),
  });
  await expect(findConnection({ ...env, EARSHOT_URL: 'http://127.0.0.1:1' })).rejects.toThrow(
    'There is no key.',
  );
  expect(await forgetConnection(env)).toBe(false);
});

test('the error names a damaged file', async () => {
  const env = { XDG_CONFIG_HOME: dir };
  const file = await storeConnection(env, stored);
  await writeFile(file, '{"url":');
  await expect(findConnection(env)).rejects.toThrow(`${file} is not valid`);
  expect(await forgetConnection(env)).toBe(true);
  await expect(findConnection(env)).rejects.toThrow('earshot login');
});

test.for([
  'earshot.example',
  'ftp://earshot.example',
  'http://user@earshot.example',
  'http://e.example/?a=1',
  '',
])('"%s" is not an address', (text) => {
  expect(() => readUrl(text)).toThrow('is not a server address');
});
