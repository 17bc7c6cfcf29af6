import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificate, listenOnLoopback } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answered } from './src/browser-requests.ts';
import {
  callback,
  createProgram,
  locationOf,
  newPkce,
  openBrowser,
  startAuthorizing,
} from './src/oauth-parts.ts';
import { type ServerUnderTest, startWorld } from './src/world.ts';

const stack = new AsyncDisposableStack();
/** Fetches documents from this machine too. */
let server: ServerUnderTest;
let guarded: ServerUnderTest;
let documentsUrl: string;
/** What the host of metadata documents answers with. */
let documentOf: (url: string) => object = () => ({});
let documentsAsked = 0;

beforeAll(async () => {
  const world = stack.use(await startWorld());
  const dir = await mkdtemp(join(tmpdir(), 'earshot-clients-'));
  stack.defer(() => rm(dir, { recursive: true }));
  const tls = await createCertificate('127.0.0.1');
  const ca = join(dir, 'ca.pem');
  await writeFile(ca, tls.cert);
  const documents = createServer(tls, (request, response) => {
    documentsAsked++;
    response.end(JSON.stringify(documentOf(`${documentsUrl}${request.url}`)));
  });
  documentsUrl = `https://127.0.0.1:${await listenOnLoopback(documents)}`;
  stack.defer(async () => {
    documents.closeAllConnections();
    documents.close();
    await once(documents, 'close');
  });
  const env = { NODE_EXTRA_CA_CERTS: ca };
  server = await startAuthorizing(world, { ...env, EARSHOT_TEST: 'allowInsecureWebhooks=true' });
  guarded = await startAuthorizing(world, env);
});
afterAll(() => stack.disposeAsync());

describe('a registration', () => {
  const register = (metadata: object) => createProgram(guarded).register(metadata);

  test.each([
    ['a script as its address', { redirect_uris: ['javascript:alert(1)'] }],
    ['a data address', { redirect_uris: ['data:text/html,x'] }],
    ['plain HTTP', { redirect_uris: ['http://evil.example/callback'] }],
    ['a scheme of its own', { redirect_uris: ['evil://callback'] }],
    ['a fragment', { redirect_uris: ['https://agent.example/callback#x'] }],
    ['no address', { redirect_uris: [] }],
    [
      'too many addresses',
      { redirect_uris: Array.from({ length: 21 }, (_, n) => `https://agent.example/${n}`) },
    ],
    ['a secret', { token_endpoint_auth_method: 'client_secret_basic' }],
    ['the implicit flow', { response_types: ['token'], grant_types: ['implicit'] }],
    ['a very long name', { client_name: 'x'.repeat(201) }],
    ['more than a page of text', { client_uri: `https://agent.example/${'x'.repeat(60_000)}` }],
  ])('with %s is refused', async (_, metadata) => {
    expect((await register(metadata)).status).toBe(400);
  });

  test('is refused to an address that has made many, with when to try again', async () => {
    const answers: Answered[] = [];
    const one = createProgram(guarded);
    for (let made = 0; made < 21; made++) answers.push(await one.register());
    const refused = answers.find(({ status }) => status === 429);
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
  });
});

describe('a metadata document', () => {
  const open = (at: ServerUnderTest, client: string) =>
    openBrowser(at).open(createProgram(at).authorizeUrl(client, newPkce()));
  const right = (url: string) => ({ client_id: url, client_name: 'Agent', redirect_uris: [callback] });

  test('names itself: one that does not is refused', async () => {
    documentOf = right;
    expect(locationOf(await open(server, `${documentsUrl}/right`))).toMatch(/^\/console\/authorize\//);
    documentOf = () => right('https://claude.example/agent');
    const answer = await open(server, `${documentsUrl}/stolen`);
    expect([answer.status, answer.headers.location]).toEqual([400, undefined]);
    expect(answer.text).toContain('client_id does not match');
  });

  test.each([
    ['a secret', { token_endpoint_auth_method: 'client_secret_post' }, 'shared-secret'],
    ['a script as its address', { redirect_uris: ['javascript:alert(1)'] }, 'redirect_uris'],
    ['plain HTTP', { redirect_uris: ['http://evil.example/callback'] }, 'redirect_uris'],
  ])('with %s is refused', async (_, more, words) => {
    documentOf = (url) => ({ ...right(url), ...more });
    const answer = await open(server, `${documentsUrl}/${randomUUID()}`);
    expect([answer.status, answer.headers.location]).toEqual([400, undefined]);
    expect(answer.text).toContain(words);
  });

  test('by plain HTTP is not fetched', async () => {
    const before = documentsAsked;
    const answer = await open(server, `${documentsUrl.replace('https', 'http')}/plain`);
    expect([answer.status, answer.headers.location, documentsAsked]).toEqual([400, undefined, before]);
  });

  test('on this machine is not fetched where nobody has allowed that', async () => {
    documentOf = right;
    const before = documentsAsked;
    const answer = await open(guarded, `${documentsUrl}/private`);
    expect([answer.status, answer.headers.location, documentsAsked]).toEqual([400, undefined, before]);
    expect(answer.text).toContain('fetch failed');
  });
});
