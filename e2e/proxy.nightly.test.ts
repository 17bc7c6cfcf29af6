import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePorts, spawnServer } from '@earshot/engines';
import { createCertificate, eventually } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { readBlocks, readShellBlocks } from './src/page-blocks.ts';
import { startWorld } from './src/world.ts';

const page = 'docs/operations/proxy-and-tls.md';
const soon = { timeoutMs: 60_000 };

/** Debian's nginx with the page's configuration, on a free port. */
async function startNginx(serverUrl: string) {
  const [port = 0] = await freePorts(1);
  const dir = await mkdtemp(join(tmpdir(), 'earshot-nginx-'));
  const { key, cert } = await createCertificate('localhost');
  await writeFile(join(dir, 'key.pem'), key);
  await writeFile(join(dir, 'cert.pem'), cert);
  const block = (await readBlocks(page)).find(({ language }) => language === 'nginx');
  const server = String(block?.text)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('/etc/ssl/earshot/fullchain.pem', join(dir, 'cert.pem'))
    .replace('/etc/ssl/earshot/privkey.pem', join(dir, 'key.pem'))
    .replace('http://127.0.0.1:8080', serverUrl);
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const temporary = folders.map((name) => `${name}_temp_path ${dir}/${name};`).join(' ');
  const http = `http { access_log off; ${temporary}\n${server} }`;
  await writeFile(join(dir, 'nginx.conf'), `daemon off; pid ${dir}/pid; events {}\n${http}`);
  const logFile = join(dir, 'error.log');
  const args = ['-c', join(dir, 'nginx.conf'), '-e', logFile];
  const nginx = await spawnServer({ command: '/usr/sbin/nginx', args, logFile, lifetime: 'parent' });
  const ask = (path: string, options: RequestOptions = {}) => {
    const target = { host: '127.0.0.1', port, path, ca: cert, servername: 'localhost', ...options };
    return new Promise<IncomingMessage>((resolve, reject) => {
      request(target, resolve).once('error', reject).end();
    });
  };
  await eventually(async () => {
    if (nginx.hasExited()) throw new Error(await readFile(logFile, 'utf8'));
    (await ask('/healthz')).resume();
  }, soon);
  return {
    ask,
    async [Symbol.asyncDispose]() {
      await nginx.stop('SIGTERM');
      await rm(dir, { recursive: true });
    },
  };
}

test("behind nginx as documented, with TLS: health, the API, streams without buffering, and the caller's address work", async () => {
  await using world = await startWorld();
  const [setting = '', ...more] = await readShellBlocks(page);
  expect([setting, more]).toEqual([expect.stringMatching(/^EARSHOT_\w+=\S+$/), []]);
  await using server = await world.startServer(Object.fromEntries([setting.split('=')]));
  await using nginx = await startNginx(server.url);
  const account = await world.newAccount();
  const authorization = `Bearer ${account.key}`;

  for (const method of ['GET', 'HEAD'])
    expect((await nginx.ask('/readyz', { method })).resume().statusCode).toBe(200);
  const forwarded = { authorization, 'x-forwarded-for': '198.51.100.9, 203.0.113.7' };
  const listed = await nginx.ask('/api.ListRules', { headers: forwarded });
  expect(JSON.parse(await text(listed))).toMatchObject({ rules: [] });
  await eventually(async () => expect(await world.serverLog()).toContain('"address":"203.0.113.7"'), soon);

  await server.api(account).createRule({ x: 'glacier' });
  const stream = await nginx.ask('/matches/stream', { headers: { authorization } });
  expect([stream.statusCode, stream.headers['content-type']]).toEqual([
    200,
    expect.stringContaining('event-stream'),
  ]);
  let streamed = '';
  stream.setEncoding('utf8').on('data', (part: string) => void (streamed += part));
  stream.once('error', () => undefined);
  await world.sandbox.posts(['A glacier calves']);
  await eventually(() => expect(streamed).toContain('A glacier calves'), soon);
  stream.destroy();
});
