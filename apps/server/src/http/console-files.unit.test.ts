import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Failure } from '../runtime/failure.ts';
import { addConsoleFiles } from './console-files.ts';

const script = 'console.log("earshot");'.repeat(100);

let dir: string;
let app: FastifyInstance;
let url: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'earshot-console-'));
  app = Fastify({ exposeHeadRoutes: false });
  app.setErrorHandler<Error>((error, _request, reply) =>
    reply.code(error instanceof Failure ? 404 : 500).send({}),
  );
  addConsoleFiles(app, join(dir, 'dist'));
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  await app.close();
  await rm(dir, { recursive: true });
});

async function build(): Promise<void> {
  await mkdir(join(dir, 'dist/assets'), { recursive: true });
  await mkdir(join(dir, 'dist/.vite'));
  const page = '<meta property="csp-nonce" nonce="__NONCE__"><link nonce="__NONCE__">';
  await writeFile(join(dir, 'dist/index.html'), page);
  await writeFile(join(dir, 'dist/.vite/manifest.json'), '{}');
  await writeFile(join(dir, 'dist/assets/index-DAHW4n40.js'), script);
  await writeFile(join(dir, 'dist/assets/index-DAHW4n40.css'), 'a{}');
  await writeFile(join(dir, 'dist/assets/icon.svg'), '<svg/>');
  await writeFile(join(dir, 'dist/assets/notes.txt'), 'not ours');
  await writeFile(join(dir, 'secret.js'), 'not ours');
}

const get = (path: string, headers: Record<string, string> = {}) => fetch(new URL(path, url), { headers });

describe('a console path', () => {
  test.each([
    '/',
    '/?a=b',
    '/sign-in',
    '/feed',
    '/rules',
    '/rules/new',
    '/rules/rule_1',
    '/coverage',
    '/sources',
    '/cost',
    '/webhooks',
    '/webhooks/whk_1',
    '/keys',
    '/notices',
    '/audit',
    '/console/authorize/uid_1',
  ])('serves the console at %s', async (path) => {
    await build();
    const answer = await get(path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await answer.text()).toContain('csp-nonce');
  });

  test('allows only own files to run or load, with a new nonce each time', async () => {
    await build();
    const nonces = new Set<string>();
    for (let n = 0; n < 3; n++) {
      const answer = await get('/');
      const body = await answer.text();
      const [, nonce = ''] = /<meta [^>]*nonce="([^"]+)"/.exec(body) ?? [];
      nonces.add(nonce);
      expect(Buffer.from(nonce, 'base64')).toHaveLength(16);
      expect(body).toContain(`<link nonce="${nonce}">`);
      expect(answer.headers.get('content-security-policy')).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; ` +
          "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
          "require-trusted-types-for 'script'; trusted-types 'none'",
      );
    }
    expect(nonces.size).toBe(3);
  });

  test('sends no referrer, and has no access to devices', async () => {
    await build();
    const { headers } = await get('/feed');
    expect(Object.fromEntries(headers)).toMatchObject({
      'referrer-policy': 'no-referrer',
      'permissions-policy': expect.stringContaining('camera=()'),
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
  });

  test('is isolated from its opener, except for the page that programs open', async () => {
    await build();
    const policyOf = async (path: string) => (await get(path)).headers.get('cross-origin-opener-policy');
    expect(await policyOf('/keys')).toBe('same-origin');
    expect(await policyOf('/console/authorize/uid_1')).toBe('unsafe-none');
  });

  test('explains how to build the console if it is not built', async () => {
    const before = await get('/');
    expect(before.status).toBe(503);
    expect(await before.text()).toContain('pnpm build:console');
    expect(before.headers.get('content-security-policy')).toContain("default-src 'none'");
    await build();
    expect((await get('/')).status).toBe(200);
  });
});

describe('a console file', () => {
  beforeEach(build);

  test.each([
    ['index-DAHW4n40.js', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['index-DAHW4n40.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['icon.svg', 'image/svg+xml', 'no-cache'],
  ])('%s has its content type, and is cached if its name has a hash', async (name, type, kept) => {
    const { status, headers } = await get(`/assets/${name}`);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, type, kept]);
  });

  test('is compressed for clients that accept it', async () => {
    const zipped = await get('/assets/index-DAHW4n40.js', { 'accept-encoding': 'br, gzip' });
    expect(zipped.headers.get('content-encoding')).toBe('gzip');
    expect(Number(zipped.headers.get('content-length'))).toBeLessThan(script.length / 10);
    expect(await zipped.text()).toBe(script);
    const plain = await get('/assets/index-DAHW4n40.js', { 'accept-encoding': 'identity' });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await plain.text()).toBe(script);
  });

  test.each([
    'nothing.js',
    'notes.txt',
    '../index.html',
    '../../secret.js',
    '..%2f..%2fsecret.js',
    '%2e%2e/.vite/manifest.json',
    '.vite%2fmanifest.json',
    '__proto__',
  ])('%s is not served', async (name) => {
    // The path as it is written: `fetch` would normalize it.
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, path: `/assets/${name}`, agent: false }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(404);
    expect(await text(response)).not.toMatch(/csp-nonce|not ours/);
  });
});
