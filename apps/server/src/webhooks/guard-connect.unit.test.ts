import { Socket } from 'node:net';
import { promisify } from 'node:util';
import type { buildConnector } from 'undici';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  AddressNotAllowed,
  createGuardedConnector,
  type GuardOptions,
  type Resolve,
} from './guarded-connector.ts';
import { createSender } from './sender.ts';

/** The connections that the guard opens. The addresses are real, so the mock only records them. */
const lookups: Pick<buildConnector.Options, 'hostname' | 'servername'>[] = [];
const unreachable = new Set<string>();
const opened: Socket[] = [];

vi.mock('undici', async (original) => ({
  ...(await original<object>()),
  buildConnector: (): buildConnector.connector => {
    return ({ hostname, servername }, callback) => {
      lookups.push({ hostname, ...(servername === undefined ? {} : { servername }) });
      if (unreachable.has(hostname)) return callback(new Error(`no route to ${hostname}`), null);
      const socket = new Socket();
      opened.push(socket);
      callback(null, socket);
    };
  },
}));
beforeEach(() => {
  lookups.length = 0;
  opened.length = 0;
  unreachable.clear();
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
  const servername = 'hooks.example';

  test('with public addresses leads to a connection to a literal, with the name for TLS', async () => {
    const socket = await connect({}, { resolve: async () => outside.slice(0, 3) });
    expect(lookups).toEqual([{ hostname: outside[0], servername }]);
    expect(socket).toBe(opened[0]);
  });

  test('is tried address by address until one connects', async () => {
    for (const address of outside.slice(0, 2)) unreachable.add(address);
    const socket = await connect({}, { resolve: async () => outside.slice(0, 4) });
    expect(lookups).toEqual(outside.slice(0, 3).map((hostname) => ({ hostname, servername })));
    expect(socket).toBe(opened[0]);
  });

  test('is resolved once, and its first four addresses are tried', async () => {
    for (const address of outside) unreachable.add(address);
    const resolve = vi.fn<Resolve>(async () => outside);
    const errors = outside.slice(0, 4).map((address) => new Error(`no route to ${address}`));
    await expect(connect({}, { resolve })).rejects.toMatchObject({ errors });
    expect(lookups).toEqual(outside.slice(0, 4).map((hostname) => ({ hostname, servername })));
    expect(resolve.mock.calls).toEqual([['hooks.example']]);
  });

  const lengths = [1, 2, 5];
  const mixed = inside.flatMap((address) =>
    lengths.flatMap((length) =>
      // First, in the middle and last; also after the maximum number of tried addresses.
      Array.from({ length: length + 1 }, (_, place) => [
        outside.slice(0, length).toSpliced(place, 0, address),
      ]),
    ),
  );
  test.each(mixed)('is refused as a whole: %j', async (addresses) => {
    await expect(connect({}, { resolve: async () => addresses })).rejects.toThrow(AddressNotAllowed);
    expect(lookups).toEqual([]);
  });

  test.each(mixed.filter(([addresses]) => addresses?.includes('10.0.0.1')))(
    'is refused even if this machine is allowed: %j',
    async (addresses) => {
      const resolve = async () => addresses;
      await expect(connect({}, { resolve, allowInsecure: true })).rejects.toThrow(AddressNotAllowed);
      expect(lookups).toEqual([]);
    },
  );

  test.each([
    ['8.8.8.8', '127.0.0.1'],
    ['127.0.0.1', '8.8.8.8'],
    ['127.0.0.1', '8.8.8.8', '127.0.0.2'],
  ])('without TLS must be only this machine: %s, %s', async (...addresses) => {
    const development = { allowInsecure: true, resolve: async () => addresses };
    await expect(connect({ protocol: 'http:' }, development)).rejects.toThrow(AddressNotAllowed);
    expect(lookups).toEqual([]);
    await connect({ protocol: 'http:' }, { ...development, resolve: async () => ['127.0.0.1'] });
    // With a server name, undici would resolve it.
    expect(lookups).toEqual([{ hostname: '127.0.0.1' }]);
  });
});

describe('an IP literal', () => {
  const resolve = () => Promise.reject(new Error('a literal is not resolved'));

  test.each(['8.8.8.8', '[2606:4700:4700::1111]'])(
    '%s is connected to without a server name',
    async (hostname) => {
      await connect({ hostname }, { resolve });
      expect(lookups).toEqual([{ hostname: hostname.replaceAll(/[[\]]/g, '') }]);
    },
  );

  test.each(inside)('%s is refused', async (hostname) => {
    await expect(connect({ hostname }, { resolve })).rejects.toThrow(AddressNotAllowed);
    expect(lookups).toEqual([]);
  });
});

describe('an accepted URL is checked again before every message', () => {
  // All of them have a public host, so only the URL check rejects them.
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
    expect({ resolved, lookups }).toEqual({ resolved: [], lookups: [] });
  });
});
