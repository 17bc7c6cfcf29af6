import { createCertificate } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Handler, startEndpoint } from '../../test/web-endpoint.ts';
import { createFetchMetadata } from './fetch-metadata.ts';

const name = 'agent.example';
let tls: { key: string; cert: string };
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  tls = await createCertificate(name);
});
afterAll(() => stack.disposeAsync());

/** Fetches a document from a host whose name resolves to `address`. */
async function fetchFrom(
  handler: Handler,
  { allowInsecure = true, address = '127.0.0.1', withinMs = 5_000 } = {},
) {
  await using endpoint = await startEndpoint(handler, { tls });
  await using metadata = createFetchMetadata({
    resolve: async () => [address],
    allowInsecure,
    withinMs,
    ca: tls.cert,
  });
  const port = allowInsecure ? `:${endpoint.port}` : '';
  const answer = await metadata.fetch(`https://${name}${port}/client.json`).catch((error: Error) => error);
  return { answer, connections: endpoint.connections() };
}

const sending =
  (text: string): Handler =>
  (_received, response) => {
    response.end(text);
    return undefined;
  };

test('a document is fetched', async () => {
  const { answer } = await fetchFrom(sending('{"client_id":"x"}'));
  expect(await (answer as Response).json()).toEqual({ client_id: 'x' });
});

test.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', 'fd00::1'])(
  'a name that resolves to %s is not connected to',
  async (address) => {
    const { answer, connections } = await fetchFrom(sending('{}'), { allowInsecure: false, address });
    expect(answer).toMatchObject({ name: 'AddressNotAllowed' });
    expect(connections).toBe(0);
  },
);

test.each([
  'http://agent.example/client.json',
  'https://10.0.0.1/client.json',
  'https://169.254.169.254/latest/meta-data',
  'https://[::1]/client.json',
  'https://agent.example:22/client.json',
  'https://user:pass@agent.example/client.json',
  'file:///etc/passwd',
])('%s is refused before its name is looked up', async (url) => {
  let resolved = 0;
  const resolve = async () => [`192.0.2.${++resolved}`];
  await using metadata = createFetchMetadata({ resolve, allowInsecure: false });
  await expect(metadata.fetch(url)).rejects.toThrow('URL:');
  expect(resolved).toBe(0);
});

test('a redirect is not followed', async () => {
  await using target = await startEndpoint(sending('{}'), { tls });
  const { answer } = await fetchFrom((_received, response) => {
    response.writeHead(302, { location: `https://${name}:${target.port}/client.json` }).end();
    return undefined;
  });
  expect(answer).toMatchObject({ status: 302 });
  expect(target.connections()).toBe(0);
});

test('a document without an end is refused', async () => {
  let sent = 0;
  const { answer } = await fetchFrom((_received, response) => {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(1_024))) sent++;
    };
    response.on('drain', more);
    more();
    return undefined;
  });
  expect(answer).toMatchObject({ message: expect.stringContaining('larger than 16384 bytes') });
  expect(sent).toBeGreaterThan(15);
});

test('a document that does not arrive in time is refused', async () => {
  const slow: Handler = (_received, response) => {
    response.write('{');
    return undefined;
  };
  const { answer } = await fetchFrom(slow, { withinMs: 200 });
  expect(answer).toMatchObject({ name: 'TimeoutError' });
});
