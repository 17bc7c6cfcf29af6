import { isIP, type LookupFunction, Socket } from 'node:net';
import { promisify } from 'node:util';
import type { buildConnector } from 'undici';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { AddressNotAllowed, createGuardedConnector, type GuardOptions } from './guarded-connector.ts';
import { createSender } from './sender.ts';

/**
 * What would be connected to when the guard lets it pass. Nothing is: the addresses here are real ones, so the connector is
 * replaced, and a guard that fails is seen by what it asked for.
 */
const asked: { readonly host: string; readonly addresses: readonly string[] }[] = [];
/** Where the connection ends up; null: at an address that was asked for. */
let peer: string | null = null;
const opened: Socket[] = [];

vi.mock('undici', async (original) => ({
  ...(await original<object>()),
  buildConnector: ({ lookup }: { lookup: LookupFunction }): buildConnector.connector => {
    return ({ hostname }, callback) => {
      lookup(hostname, { all: true }, (_error, found) => {
        const addresses = [found].flat().map((one) => (typeof one === 'string' ? one : one.address));
        asked.push({ host: hostname, addresses });
        const socket = new Socket();
        Object.defineProperty(socket, 'remoteAddress', { value: peer ?? addresses[0] });
        opened.push(socket);
        callback(null, socket);
      });
    };
  },
}));
beforeEach(() => {
  asked.length = 0;
  opened.length = 0;
  peer = null;
});

const outside = ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c', '8.8.8.8', '1.1.1.1', '9.9.9.9'];
const inside = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', 'fd00::1', 'fe80::1', '::ffff:127.0.0.1'];

async function connect(
  { protocol = 'https:', hostname = 'hooks.example' }: { protocol?: string; hostname?: string },
  options: Partial<GuardOptions> & Pick<GuardOptions, 'resolve'>,
) {
  const connector = createGuardedConnector({ allowInsecure: false, timeoutMs: 1_000, ...options });
  const port = protocol === 'https:' ? '443' : '80';
  return await promisify<buildConnector.Options, Socket | null>(connector)({ hostname, protocol, port });
}

describe('an answer of the name server', () => {
  test('with public addresses alone leads to those, and to no others', async () => {
    const socket = await connect({}, { resolve: async () => outside.slice(0, 3) });
    expect(asked).toEqual([{ host: 'hooks.example', addresses: outside.slice(0, 3) }]);
    expect(socket).toBe(opened[0]);
  });

  const lengths = [1, 2, 5];
  const mixed = inside.flatMap((address) =>
    lengths.flatMap((length) =>
      // First, in the middle and last; also behind as many as are ever tried.
      Array.from({ length: length + 1 }, (_, place) => [
        outside.slice(0, length).toSpliced(place, 0, address),
      ]),
    ),
  );
  test.each(mixed)('is refused as a whole: %j', async (addresses) => {
    await expect(connect({}, { resolve: async () => addresses })).rejects.toThrow(AddressNotAllowed);
    expect(asked).toEqual([]);
  });

  test.each(mixed.filter(([addresses]) => addresses?.includes('10.0.0.1')))(
    'is refused also where this machine is allowed: %j',
    async (addresses) => {
      const resolve = async () => addresses;
      await expect(connect({}, { resolve, allowInsecure: true })).rejects.toThrow(AddressNotAllowed);
      expect(asked).toEqual([]);
    },
  );

  test.each([
    ['8.8.8.8', '127.0.0.1'],
    ['127.0.0.1', '8.8.8.8'],
    ['127.0.0.1', '8.8.8.8', '127.0.0.2'],
  ])('without TLS must be this machine alone: %s, %s', async (...addresses) => {
    const development = { allowInsecure: true, resolve: async () => addresses };
    await expect(connect({ protocol: 'http:' }, development)).rejects.toThrow(AddressNotAllowed);
    expect(asked).toEqual([]);
    await connect({ protocol: 'http:' }, { ...development, resolve: async () => ['127.0.0.1'] });
    expect(asked).toHaveLength(1);
  });
});

describe('a connection that is open', () => {
  test.each([...inside, '9.9.9.9', ''])(
    'but leads to %s instead is closed before a word is said',
    async (other) => {
      peer = other;
      const resolve = async () => ['93.184.215.14', '8.8.8.8'];
      await expect(connect({}, { resolve })).rejects.toThrow(AddressNotAllowed);
      expect(opened.map(({ destroyed, bytesWritten }) => ({ destroyed, bytesWritten }))).toEqual([
        { destroyed: true, bytesWritten: 0 },
      ]);
    },
  );

  test.each(['93.184.215.14', '8.8.8.8'])('and leads to %s, which was checked, is used', async (checked) => {
    peer = checked;
    const socket = await connect({}, { resolve: async () => ['93.184.215.14', '8.8.8.8'] });
    expect(socket).toBe(opened[0]);
    expect(socket?.destroyed).toBe(false);
  });

  test('is compared with a literal too', async () => {
    peer = '10.0.0.1';
    const resolve = () => Promise.reject(new Error('a literal is not resolved'));
    await expect(connect({ hostname: '8.8.8.8' }, { resolve })).rejects.toThrow(AddressNotAllowed);
    expect(opened).toHaveLength(1);
  });
});

describe('a URL that was accepted once is looked at again before every message', () => {
  // All of them name a public host, so nothing behind the check of the URL would mind.
  test.each([
    'https://hooks.example:22/',
    'https://hooks.example:6379/',
    'https://8.8.8.8:9200/',
    'https://user:secret@hooks.example/',
    'http://hooks.example/',
  ])('%s', async (url) => {
    const resolved: string[] = [];
    await using sender = createSender({
      resolve: async (name) => {
        resolved.push(name);
        return ['93.184.215.14'];
      },
      allowInsecure: false,
      timeoutMs: 1_000,
    });
    const attempt = await sender.send({ url, headers: {}, body: '{}' });
    expect(attempt).toMatchObject({ outcome: { kind: 'failed' }, status: null });
    expect({ resolved, asked }).toEqual({ resolved: [], asked: [] });
  });
});

test('every address here is one: a misspelt one would be refused for that', () => {
  expect([...outside, ...inside].filter((address) => isIP(address) === 0)).toEqual([]);
});
