import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildServer } from '../build/build-server.ts';

let dir: string;
let files: string[];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'earshot-built-'));
  await buildServer(dir);
  files = await readdir(dir);
});
afterAll(() => rm(dir, { recursive: true }));

test('the built server needs no other files, and reports missing settings as the sources do', async () => {
  const run = promisify(execFile)(process.execPath, [join(dir, 'main.mjs')], { env: {} });
  await expect(run).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('EARSHOT_DATABASE_URL is missing'),
  });
});

test('code that a start does not need is in separate files that can be loaded', async () => {
  const later = files.filter((file) =>
    /^(authorization-server|trusted-issuer|mailer|span-export)-/.test(file),
  );
  expect(later).toHaveLength(4);
  const script = later
    .map((file) => `await import(${JSON.stringify(pathToFileURL(join(dir, file)).href)});`)
    .join('\n');
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { env: {} });
});

test.for(['items-thread.mjs', 'examples-thread.mjs'])('the thread %s starts', async (file) => {
  const thread = new Worker(join(dir, file));
  expect(await once(thread, 'message')).toEqual(['ready']);
  await thread.terminate();
});

test('files that the server finds by their path exist', async () => {
  const texts = await Promise.all(files.map((file) => readFile(join(dir, file), 'utf8')));
  const addresses = texts.flatMap((text) =>
    [...text.matchAll(/new URL\("([^"]+)", import\.meta\.url\)/g)].map(([, address = '']) => address),
  );
  expect(addresses).toHaveLength(5);
  expect(addresses.filter((address) => address.includes('node_modules'))).toEqual([]);
  // Another command builds the console.
  const missing = addresses.filter(
    (address) => !existsSync(join(dir, address.replace('console/dist', 'console'))),
  );
  expect(missing).toEqual([]);
});
