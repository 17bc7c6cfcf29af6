import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEarshot } from '@earshot/sdk';
import { createCertificate, listenOnLoopback } from '@earshot/testkit';
import {
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startAgent } from './src/mcp-agent.ts';
import { authorizeIn, openBrowser, startAuthorizing } from './src/oauth-parts.ts';
import { type ServerUnderTest, startWorld, type World } from './src/world.ts';

const callback = 'http://127.0.0.1:9/callback';

let world: World;
let server: ServerUnderTest;
let documentUrl: string;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  world = stack.use(await startWorld());
  const dir = await mkdtemp(join(tmpdir(), 'earshot-client-'));
  stack.defer(() => rm(dir, { recursive: true }));
  const tls = await createCertificate('127.0.0.1');
  const document = createServer(tls, (_request, response) => response.end(JSON.stringify(metadata)));
  const port = await listenOnLoopback(document);
  stack.defer(async () => {
    document.closeAllConnections();
    document.close();
    await once(document, 'close');
  });
  documentUrl = `https://127.0.0.1:${port}/agents/desktop.json`;
  const metadata = {
    client_id: documentUrl,
    client_name: 'Desktop agent',
    client_uri: `https://127.0.0.1:${port}`,
    // On this machine, at any port (RFC 8252).
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  await writeFile(join(dir, 'ca.pem'), tls.cert);
  server = await startAuthorizing(world, {
    EARSHOT_TEST: 'allowInsecureWebhooks=true',
    NODE_EXTRA_CA_CERTS: join(dir, 'ca.pem'),
  });
});
afterAll(() => stack.disposeAsync());

/** What an agent host stores, and the address to which it sends its user. */
function createHost(clientMetadataUrl: string | undefined) {
  let client: StoredOAuthClientInformation | undefined;
  let tokens: StoredOAuthTokens | undefined;
  let verifier = '';
  let sentTo: URL | undefined;
  let discovered: OAuthDiscoveryState | undefined;
  const provider: OAuthClientProvider = {
    redirectUrl: callback,
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    clientMetadata: {
      client_name: 'Registered agent',
      redirect_uris: [callback],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => client,
    saveClientInformation: (given) => {
      client = given;
    },
    tokens: () => tokens,
    saveTokens: (given) => {
      tokens = given;
    },
    redirectToAuthorization: (url) => {
      sentTo = url;
    },
    saveCodeVerifier: (given) => {
      verifier = given;
    },
    codeVerifier: () => verifier,
    // With it the host verifies that the answer is from the server that it called.
    saveDiscoveryState: (given) => {
      discovered = given;
    },
    discoveryState: () => discovered,
  };
  return { provider, sentTo: () => sentTo, client: () => client };
}

const created = z.looseObject({ rule_id: z.string() });

describe.each([
  { by: 'a metadata document', document: () => documentUrl, name: 'Desktop agent', word: 'quoll' },
  { by: 'registering', document: () => undefined, name: 'Registered agent', word: 'bilby' },
])('an agent that introduces itself by $by', ({ document, name, word }) => {
  test('is refused, finds the authorization server, is approved by its user, and watches', async () => {
    const account = await world.newAccount();
    const host = createHost(document());
    const connect = () =>
      new StreamableHTTPClientTransport(new URL('/mcp', server.url), { authProvider: host.provider });
    const refused = connect();
    await expect(startAgent(refused)).rejects.toThrow(UnauthorizedError);

    const authorizeUrl = host.sentTo();
    expect(Object.fromEntries(authorizeUrl?.searchParams ?? [])).toMatchObject({
      code_challenge_method: 'S256',
      resource: `${server.url}/mcp`,
      scope: 'rules:read rules:write matches:read matches:label readers:write',
    });
    const browser = openBrowser(server);
    await browser.signIn(account.key);
    const back = await authorizeIn(browser, authorizeUrl?.href ?? '');
    expect(back.searchParams.get('iss')).toBe(`${server.url}/oauth`);
    await refused.finishAuth(back.searchParams);

    await using agent = await startAgent(connect());
    const { rule_id } = await agent.call(
      'create_rule',
      { name: word, intent: `Know of ${word}s`, platforms: ['x'], overrides: { x: word } },
      created,
    );
    const waiting = agent.read('wait_for_matches', {
      reader: 'me',
      rule_id,
      start: 'oldest',
      wait_seconds: 30,
    });
    await world.sandbox.posts([`a ${word} at night`]);
    expect((await waiting).matches).toMatchObject([{ text: `a ${word} at night` }]);

    const earshot = createEarshot({ url: server.url, key: account.key });
    const [grant] = (await earshot.listKeys({})).keys;
    expect(grant?.client).toEqual({ id: host.client()?.client_id, name });
    const { entries } = await earshot.listAudit({});
    const entryOf = (wanted: string) => entries.find(({ operation }) => operation === wanted);
    expect(entryOf('CreateKey')).toMatchObject({
      actor: account.keyId,
      target_id: grant?.id,
      after: { client: grant?.client },
    });
    expect(entryOf('CreateRule')).toMatchObject({ actor: grant?.id, target_id: rule_id });
  });
});
