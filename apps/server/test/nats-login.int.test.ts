import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@earshot/testkit';
import { nkeys } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readConfig } from '../src/config/config.ts';
import { connectNats, type NatsOptions } from '../src/engines/nats.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'earshot-login-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** A nats-server with this configuration besides its port and a store. */
async function startServer(configuration: string): Promise<AsyncDisposable & { host: string }> {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const address = holder.address();
  const port = typeof address === 'object' ? address?.port : 0;
  holder.close();
  const file = join(dir, `${port}.conf`);
  const store = JSON.stringify(join(dir, `store-${port}`));
  await writeFile(file, `listen: "127.0.0.1:${port}"\njetstream { store_dir: ${store} }\n${configuration}`);
  const server = spawn(inject('natsServer'), ['-c', file, '-l', `${file}.log`], { stdio: 'ignore' });
  await eventually(async () => (await readFile(`${file}.log`, 'utf8')).includes('Server is ready'), {
    timeoutMs: 10_000,
  });
  return {
    host: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const exited = once(server, 'exit');
      server.kill('SIGKILL');
      await exited;
    },
  };
}

/** Connects as a node with this address does, and sends a request. */
async function ask(url: string, files: NatsOptions['files'] = {}): Promise<unknown> {
  const needed = { EARSHOT_DATABASE_URL: 'postgres://a/b', EARSHOT_NATS_URL: url };
  await using nats = await connectNats(readConfig(needed).natsUrl, 'test', { files });
  return (await nats.manager.getAccountInfo()).limits;
}

/** What a node logs about a server that it cannot use, before it retries. */
async function complaint(url: string, files: NatsOptions['files'] = {}): Promise<string> {
  const onWaiting = (error: unknown) => {
    throw error;
  };
  return await connectNats(url, 'test', { files, onWaiting }).then(() => 'connected', String);
}

test('user and password in the address are used, percent-decoded; a wrong one is refused and not repeated in errors', async () => {
  const password = 'p@ss:w/0rd%,ä';
  await using server = await startServer(
    `authorization { users: [{ user: "ear:shot", password: ${JSON.stringify(password)} }] }`,
  );
  const login = `${encodeURIComponent('ear:shot')}:${encodeURIComponent(password)}`;
  expect(await ask(`nats://${login}@${server.host}`)).toBeDefined();
  // One login for all addresses, even if the others do not repeat it.
  expect(await ask(`nats://${server.host},nats://${login}@${server.host}`)).toBeDefined();
  for (const wrong of ['', 'earshot:s3cret-guess@', `${encodeURIComponent(password)}@`]) {
    const refused = await ask(`nats://${wrong}${server.host}`).catch((error: Error) => error);
    expect(refused).toMatchObject({ message: expect.stringContaining('EARSHOT_NATS_URL') });
    const text = JSON.stringify(refused, Object.getOwnPropertyNames(refused));
    expect(text).not.toMatch(/s3cret-guess|p@ss|p%40ss/);
  }
});

test('a token in the address is used', async () => {
  await using server = await startServer('authorization { token: "t0ken/with:all" }');
  expect(await ask(`nats://${encodeURIComponent('t0ken/with:all')}@${server.host}`)).toBeDefined();
  await expect(ask(`nats://other@${server.host}`)).rejects.toThrow('NATS refuses the login');
});

test('a credentials file is used', async () => {
  const { configuration, creds } = decentralised();
  await using server = await startServer(configuration);
  const file = join(dir, 'user.creds');
  await writeFile(file, creds);
  expect(await ask(`nats://${server.host}`, { creds: file })).toBeDefined();
  await expect(ask(`nats://${server.host}`)).rejects.toThrow('EARSHOT_NATS_CREDS_FILE');
});

test('with a CA file, only a server with its certificate is accepted, and it gets our certificate', async () => {
  const [ca, other] = [await authority('ca'), await authority('other')];
  const server = await certificate('server', ca, '-addext', 'subjectAltName=DNS:localhost');
  const client = await certificate('client', ca);
  await using nats = await startServer(
    `tls { cert_file: "${server.cert}", key_file: "${server.key}", ca_file: "${ca.cert}", verify: true }`,
  );
  // By name: the client compares no certificate with an IP address.
  const url = `tls://${nats.host.replace('127.0.0.1', 'localhost')}`;
  const proof = { cert: client.cert, key: client.key };
  expect(await ask(url, { ca: ca.cert, ...proof })).toBeDefined();
  expect(await complaint(url, { ca: other.cert, ...proof })).toContain('unable to verify');
  // Without the file, any authority of the system is accepted, which ours is not.
  expect(await complaint(url, proof)).toContain('unable to verify');
  // The server ends the handshake; the client reports no more than that.
  expect(await complaint(url, { ca: ca.cert })).not.toBe('connected');
});

test('tls: in the address requires TLS: a server without it, or an attacker in between, gets nothing', async () => {
  await using server = await startServer('');
  expect(await ask(`nats://${server.host}`)).toBeDefined();
  expect(await complaint(`tls://${server.host}`)).toMatch(/tls/i);
});

interface Pair {
  readonly key: string;
  readonly cert: string;
}

function pairOf(name: string): Pair {
  return { key: join(dir, `${name}.key`), cert: join(dir, `${name}.pem`) };
}

const newKey = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2'.split(' ');

async function authority(name: string): Promise<Pair> {
  const { key, cert } = pairOf(name);
  await promisify(execFile)('openssl', [...newKey, '-subj', `/CN=${name}`, '-keyout', key, '-out', cert]);
  return { key, cert };
}

async function certificate(name: string, by: Pair, ...more: string[]): Promise<Pair> {
  const { key, cert } = pairOf(name);
  const signed = ['-CA', by.cert, '-CAkey', by.key, '-addext', 'basicConstraints=critical,CA:FALSE', ...more];
  const args = [...newKey, '-subj', `/CN=${name}`, '-keyout', key, '-out', cert, ...signed];
  await promisify(execFile)('openssl', args);
  return { key, cert };
}

/** An operator, an account with JetStream and a user, as `nsc` makes them. */
function decentralised(): { configuration: string; creds: string } {
  const [operator, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createUser()];
  const system = nkeys.createAccount().getPublicKey();
  const jwt = (by: typeof operator, subject: string, nats: object): string => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const head = encode({ typ: 'JWT', alg: 'ed25519-nkey' });
    const issued = { jti: randomUUID(), iat: Math.floor(Date.now() / 1_000), iss: by.getPublicKey() };
    const body = `${head}.${encode({ ...issued, name: 'test', sub: subject, nats: { version: 2, ...nats } })}`;
    return `${body}.${Buffer.from(by.sign(Buffer.from(body))).toString('base64url')}`;
  };
  const [operatorId, accountId, userId] = [operator, account, user].map((one) => one.getPublicKey());
  const unlimited = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, conn: -1, leaf: -1 };
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const limits = { ...unlimited, ...storage, wildcards: true };
  const accountJwt = jwt(operator, accountId ?? '', { type: 'account', limits });
  const userJwt = jwt(account, userId ?? '', { type: 'user', subs: -1, data: -1, payload: -1 });
  const seed = new TextDecoder().decode(user.getSeed());
  return {
    configuration: `operator: ${jwt(operator, operatorId ?? '', { type: 'operator' })}
resolver: MEMORY
system_account: ${system}
resolver_preload { ${accountId}: ${accountJwt}, ${system}: ${jwt(operator, system, { type: 'account' })} }
`,
    creds: `-----BEGIN NATS USER JWT-----\n${userJwt}\n------END NATS USER JWT------\n
-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
  };
}
