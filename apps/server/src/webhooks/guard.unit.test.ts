import { once } from 'node:events';
import { type AddressInfo, createServer, isIP, type LookupFunction, type Server } from 'node:net';
import { callbackify } from 'node:util';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startNameServer } from '../../test/name-server.ts';
import { startEndpoint } from '../../test/web-endpoint.ts';
import { createGuardedConnector, createResolve, type Resolve } from './guarded-connector.ts';
import { createAddressCheck, createUrlProblem } from './public-address.ts';
import { createSender } from './sender.ts';

vi.setConfig({ testTimeout: 60_000 });

/**
 * An internal server that must not be reached: it listens on every address of this machine and counts connections.
 */
let inside: Server;
let port = 0;
let reached = 0;
beforeAll(async () => {
  inside = createServer((socket) => {
    reached++;
    socket.on('error', () => undefined).destroy();
  });
  inside.listen(0, '::');
  await once(inside, 'listening');
  port = (inside.address() as AddressInfo).port;
});
afterAll(() => inside?.close());
beforeEach(() => {
  reached = 0;
});

/** Spellings of hosts that lead to this machine, private networks, cloud metadata, or nowhere. */
const literals = `
  127.0.0.1 127.1 127.0.1 127.000.000.001 0177.0.0.1 0x7f.0.0.1 0x7f.1 0x7f000001 2130706433 017700000001
  0x7F.0x0.0x0.0x1 127.0.0.1. 127。0。0。1 １２７.0.0.1 ①②⑦.0.0.1 127.0.0.2 127.255.255.254 0 0.0.0.0 0x0
  %31%32%37.0.0.1 127%2e0.0.1 [::1] [0:0:0:0:0:0:0:1] [::0001] [::] [::ffff:127.0.0.1] [::ffff:7f00:1]
  [0:0:0:0:0:ffff:127.0.0.1] [::127.0.0.1] [::7f00:1] [64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::]
  [2001:0:7f00:1::1] [5f00::1] [fe80::1] [fc00::1] [fd00:ec2::254] 10.0.0.1 012.0.0.1 0xa.0.0.1 167772161
  172.16.0.1 192.168.0.1 3232235521 169.254.169.254 0xa9fea9fe 2852039166 169.254.43518 0251.0376.0251.0376
  [::ffff:a9fe:a9fe] 100.64.0.1 100.100.100.200 168.63.129.16 192.0.0.192 192.0.2.1 198.18.0.1 198.51.100.1
  203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 [ff02::1] [2001:db8::1]`
  .trim()
  .split(/\s+/);

/** Names whose name server is controlled by an attacker. */
const names: Record<string, readonly string[]> = {
  'loopback.example': ['127.0.0.1'],
  'metadata.example': ['169.254.169.254'],
  // The internal address comes first: a guard that accepts one good address for all would connect to it, without
  // leaving this machine.
  'mixed.example': ['127.0.0.1', '93.184.215.14'],
  'mixed-families.example': ['::1', '93.184.215.14'],
  'mixed-v6.example': ['::1', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'private-v6.example': ['fd00::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'empty.example': [],
  localhost: ['127.0.0.1', '::1'],
};
const resolve: Resolve = async (name) => names[name.replace(/\.$/, '')] ?? [];

/** A lookup as Node calls it: for names, never for literals. */
function callbackLookup(find: Resolve): LookupFunction {
  const all = callbackify(async (name: string) =>
    (await find(name)).map((address) => ({ address, family: isIP(address) })),
  );
  return (name, _options, callback) => all(name, (error, found) => callback(error, found ?? []));
}

const hosts = [...literals, ...Object.keys(names), 'localhost.', 'LOCALHOST', 'unknown.example'];

async function tryAll(agent: Agent): Promise<void> {
  for (const host of hosts) {
    const url = URL.parse(`https://${host}:${port}/`);
    if (url === null) continue;
    await request(url, { dispatcher: agent, signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  }
  await agent.destroy();
}

describe('no connection is made to a non-public address', () => {
  test('by the connector, for any spelling and any answer of the name server', async () => {
    const connect = createGuardedConnector({ resolve, allowInsecure: false, timeoutMs: 1_000 });
    await tryAll(new Agent({ connect }));
    expect(reached).toBe(0);
  });

  test('control: a guard without the check of literals allows some', async () => {
    const isAllowed = createAddressCheck({ allowLoopback: false });
    const naive = new Agent({
      connect: {
        timeout: 1_000,
        lookup: callbackLookup(async (name) => {
          const found = await resolve(name);
          if (!found.every(isAllowed)) throw new Error('refused');
          return found;
        }),
      },
    });
    const loopbackOnly = literals.filter((host) => /^(\[?::|127|0|2130706433|0x7f|①|１)/i.test(host));
    for (const host of loopbackOnly) {
      const url = URL.parse(`https://${host}:${port}/`);
      if (url === null) continue;
      await request(url, { dispatcher: naive, signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
    }
    await naive.destroy();
    expect(reached).toBeGreaterThan(5);
  });

  test('by the sender, which reports a failure', async () => {
    await using sender = createSender({ resolve, allowInsecure: false });
    for (const host of hosts) {
      for (const url of [`https://${host}/`, `https://${host}:8443/`, `https://${host}:${port}/`]) {
        const { outcome } = await sender.send({ url, headers: {}, body: '{}' });
        expect({ url, outcome: outcome.kind }).toEqual({ url, outcome: 'failed' });
      }
    }
    expect(reached).toBe(0);
  });
});

describe('a URL is refused at creation', () => {
  const problemOf = createUrlProblem({ allowInsecure: false });
  test.each([
    'http://hooks.example/',
    'ftp://hooks.example/',
    'file:///etc/passwd',
    'hooks.example',
    '',
    '//a.example',
    'https://user@hooks.example/',
    'https://:secret@hooks.example/',
    'https://hooks.example:22/',
    'https://hooks.example:80/',
    'https://hooks.example:8080/',
    'https://',
    'https://[::1',
    'javascript:1',
  ])('%j', (url) => {
    expect(problemOf(url)).not.toBeNull();
  });

  test.each(literals)('the literal %s', (host) => {
    expect(problemOf(`https://${host}/`)).not.toBeNull();
  });

  test.each([
    'https://hooks.example/a?b=c',
    'https://hooks.example:8443/',
    'https://hooks.example:443/',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
  ])('but %s is accepted', (url) => {
    expect(problemOf(url)).toBeNull();
  });

  test('in development, plain HTTP on any port is allowed only for this machine', () => {
    const forDevelopment = createUrlProblem({ allowInsecure: true });
    expect(forDevelopment('http://127.0.0.1:9999/')).toBeNull();
    expect(forDevelopment('http://[::1]:9999/')).toBeNull();
    expect(forDevelopment('https://127.0.0.1:9999/')).toBeNull();
    for (const url of ['http://hooks.example/', 'http://8.8.8.8/', 'http://10.0.0.1/', 'https://10.0.0.1/'])
      expect(forDevelopment(url)).not.toBeNull();
  });
});

describe('a name that changes its address between two lookups', () => {
  const first = '127.0.0.2';
  const second = '127.0.0.3';

  test('is resolved once per connection, which goes to the checked address', async () => {
    await using good = await startEndpoint(() => 200, { host: first });
    await using bad = await startEndpoint(() => 200, { host: second, port: good.port });
    const answers: string[] = [];
    // Loopback stands for the public internet here: the test sets which addresses are allowed.
    await using nameServer = await startNameServer((_name, type) => {
      if (type === 'AAAA') return [];
      const next = answers.length % 2 === 0 ? first : second;
      answers.push(next);
      return [next];
    });
    const connect = createGuardedConnector({
      resolve: createResolve([nameServer.address]),
      allowInsecure: true,
      timeoutMs: 5_000,
    });
    const agent = new Agent({ connect });
    const { statusCode } = await request(`http://rebind.example:${good.port}/`, { dispatcher: agent });
    await agent.destroy();
    expect({ statusCode, answers }).toEqual({ statusCode: 200, answers: [first] });
    expect([good.connections(), bad.connections()]).toEqual([1, 0]);
  });
});

test.each([301, 302, 303, 307, 308])(
  'a %i is a failure, and the redirect is not followed',
  async (status) => {
    await using target = await startEndpoint();
    await using endpoint = await startEndpoint((_received, response) => {
      response.writeHead(status, { location: target.url }).end();
      return undefined;
    });
    await using sender = createSender({ resolve, allowInsecure: true });
    const attempt = await sender.send({ url: endpoint.url, headers: {}, body: '{}' });
    expect(attempt).toMatchObject({ status, outcome: { kind: 'failed' } });
    expect(target.connections()).toBe(0);
  },
);

describe('the name servers', () => {
  const answers: Record<string, Record<'A' | 'AAAA', readonly string[] | 'nxdomain' | 'servfail'>> = {
    'both.example': { A: ['192.0.2.1', '192.0.2.2'], AAAA: ['2001:db8::1'] },
    'v4.example': { A: ['192.0.2.1'], AAAA: [] },
    'v6.example': { A: [], AAAA: ['2001:db8::1'] },
    'half.example': { A: ['192.0.2.1'], AAAA: 'servfail' },
    'broken.example': { A: 'servfail', AAAA: 'servfail' },
  };
  const ask = async (name: string) => {
    await using server = await startNameServer((asked, type) => answers[asked]?.[type] ?? 'nxdomain');
    return await createResolve([server.address])(name);
  };

  test('are queried for both families', async () => {
    expect((await ask('both.example')).toSorted()).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1']);
    expect(await ask('v4.example')).toEqual(['192.0.2.1']);
    expect(await ask('v6.example')).toEqual(['2001:db8::1']);
    expect(await ask('unknown.example')).toEqual([]);
  });

  test.each([
    ['half.example', 'ESERVFAIL'],
    ['broken.example', 'ESERVFAIL'],
  ])('fail as a whole if they do not return all of %s', async (name, code) => {
    await expect(ask(name)).rejects.toMatchObject({ code });
  });

  test('give the same result for a name that does not exist, has no address, or is internal', async () => {
    const inside = {
      'db.corp': ['10.0.0.1'],
      'ula.corp': ['fd00::1'],
      'self.corp': ['127.0.0.1'],
      'bare.corp': [],
    };
    const known = new Map<string, readonly string[]>(Object.entries(inside));
    await using server = await startNameServer((name) => known.get(name) ?? 'nxdomain');
    await using sender = createSender({ resolve: createResolve([server.address]), allowInsecure: false });
    for (const name of [...known.keys(), 'unknown.corp']) {
      const attempt = await sender.send({ url: `https://${name}/`, headers: {}, body: '{}' });
      expect({ name, ...attempt, asked: server.asked(name) }).toEqual({
        name,
        outcome: { kind: 'failed', retryAfterMs: null },
        status: null,
        message: 'the host does not exist or is not on the public internet',
        response: null,
        latencyMs: expect.any(Number),
        // Both families are queried once and nothing else is awaited, so timing does not differ either.
        asked: 2,
      });
    }
  });

  test('that do not answer are a failure of Earshot; a name that does not exist is one of the endpoint', async () => {
    const gone = await startNameServer(() => 'nxdomain');
    await using working = await startNameServer(() => 'nxdomain');
    await gone[Symbol.asyncDispose]();
    const outcomeBy = async (server: string) => {
      await using sender = createSender({ resolve: createResolve([server]), allowInsecure: false });
      return (await sender.send({ url: 'https://hooks.example/', headers: {}, body: '' })).outcome.kind;
    };
    expect(await outcomeBy(gone.address)).toBe('not_sent');
    expect(await outcomeBy(working.address)).toBe('failed');
  });
});
