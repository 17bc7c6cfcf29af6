import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addReferencePage } from './reference-page.ts';

let app: FastifyInstance;
let url: string;

beforeAll(async () => {
  app = Fastify();
  addReferencePage(app);
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => app.close());

/** Unlike fetch, it does not decompress. */
async function get(path: string, headers: Record<string, string> = {}) {
  const sent = request(new URL(path, url), { headers }).end();
  const [answer]: IncomingMessage[] = await once(sent, 'response');
  if (answer === undefined) throw new Error('no answer');
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) };
}

test('the page loads one script, which reads /openapi.json', async () => {
  const { headers, body } = await get('/docs');
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  const page = body.toString();
  const addresses = [...page.matchAll(/ (?:src|data-url)="([^"]+)"/g)].map(([, address]) => address);
  expect(addresses).toEqual(['/openapi.json', '/docs/scalar.js']);
  expect(page).not.toMatch(/\w:\/\/|@import|url\(/);
});

test('the policy of the page allows only code from the server, and no request to another host', async () => {
  const { headers } = await get('/docs');
  const policy = Object.fromEntries(
    String(headers['content-security-policy'])
      .split('; ')
      .map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1).join(' ')]),
  );
  expect(policy).toEqual({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'unsafe-inline'",
    'img-src': 'data:',
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  });
});

test('the script is compressed for clients that accept it, and has the same content for others', async () => {
  const plain = await get('/docs/scalar.js');
  const zipped = await get('/docs/scalar.js', { 'accept-encoding': 'br, gzip' });
  expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8');
  expect([plain.headers['content-encoding'], zipped.headers['content-encoding']]).toEqual([
    undefined,
    'gzip',
  ]);
  expect(zipped.body.length).toBeLessThan(plain.body.length / 3);
  expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
  expect(zipped.headers.vary).toBe('accept-encoding');
});

test('the script is cached by browsers', async () => {
  const first = await get('/docs/scalar.js', { 'accept-encoding': 'gzip' });
  expect(first.headers['cache-control']).toBe('public, no-cache');
  const etag = String(first.headers.etag);
  const again = await get('/docs/scalar.js', { 'if-none-match': `"other", ${etag}` });
  expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag]);
  const other = await get('/docs/scalar.js', { 'if-none-match': '"other"' });
  expect([other.status, other.body.length > 0]).toEqual([200, true]);
});
