import { once } from 'node:events';
import { connect } from 'node:net';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clusterPassword, type DeployedNats, natsPassword, startDeployedNats } from './src/deployed-nats.ts';
import { startWorld, type World, xToken } from './src/world.ts';

let world: World;
let nats: DeployedNats;

beforeAll(async () => {
  [world, nats] = await Promise.all([startWorld(), startDeployedNats()]);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await nats?.[Symbol.asyncDispose]();
});

/** What the server answers to these protocol lines; `PONG` arrives when it has handled all of them. */
async function say(login: object, ...lines: string[]): Promise<string> {
  return await sayTo(nats.port, login, ...lines);
}

async function sayTo(port: number, login: object, ...lines: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(
    [`CONNECT ${JSON.stringify({ verbose: false, ...login })}`, ...lines, 'PING', ''].join('\r\n'),
  );
  let said = '';
  while (!/PONG|Authorization/.test(said)) said += String((await once(socket, 'data'))[0]);
  socket.destroy();
  return said;
}

const earshot = { user: 'earshot', pass: natsPassword };

test('the permissions of deploy/nats.conf are enough for everything that a server does', async () => {
  const env = { EARSHOT_NATS_URL: nats.url, EARSHOT_EVENTS_BYTES_MAX: '150000' };
  const account = await world.newAccount();
  {
    await using server = await world.startServer(env);
    const api = server.api(account);
    const { rule_id } = await api.createRule({ x: 'glacier', firehose: 'title:glacier' });
    await world.sandbox.posts(['A glacier calves']);
    await world.sandbox.pages([{ url: 'https://news.example/a/1', title: 'Glacier retreats', text: 'ice' }]);
    const found = async () => expect(await api.allMatches({ rule_id })).toHaveLength(2);
    await eventually(found, { timeoutMs: 20_000 });
  }
  // A second start finds the log; a full log is purged of matched events.
  await using server = await world.startServer(env);
  const api = server.api(account);
  const isListening = async () => (await world.sandbox.xState(xToken)).connections.open === 1;
  await eventually(isListening, { timeoutMs: 30_000 });
  await world.sandbox.posts(Array.from({ length: 60 }, (_, n) => `glacier ${n} ${'ice '.repeat(60)}`));
  await eventually(async () => expect(await api.allMatches()).toHaveLength(62), { timeoutMs: 60_000 });
  const isPurged = async () => (await world.serverLog()).includes('matched events removed from the log');
  await eventually(isPurged, { timeoutMs: 30_000 });
  expect(await nats.log()).not.toMatch(/violation/i);
});

test('rejects connections without the password, which is in no log', async () => {
  expect(await say({}, 'SUB events.> 1')).toContain('Authorization Violation');
  expect(await say({ user: 'earshot', pass: 'guess' }, 'SUB events.> 1')).toContain(
    'Authorization Violation',
  );
  const log = await world.serverLog();
  expect(log).toContain('earshot is up');
  expect(log).not.toContain(natsPassword);
  expect(await nats.log()).not.toContain(natsPassword);
});

test('the cluster of deploy/nats-cluster.conf rejects nodes without its password', async () => {
  await using node = await startDeployedNats('nats-cluster.conf');
  const join = (login: object) => sayTo(node.clusterPort, { ...login, name: 'n9', cluster: 'earshot' });
  expect(await join({})).toContain('Authorization Violation');
  expect(await join({ user: 'cluster', pass: 'guess' })).toContain('Authorization Violation');
  expect(await join({ user: 'cluster', pass: clusterPassword })).not.toContain('Authorization Violation');
});

test.for([
  'SUB > 1',
  'SUB events.> 1',
  'SUB $SYS.> 1',
  'SUB $JS.API.> 1',
  ...['STREAM.DELETE.EVENTS', 'STREAM.MSG.DELETE.EVENTS', 'STREAM.NAMES', 'STREAM.CREATE.COPY'].map(publish),
  ...['STREAM.SNAPSHOT.EVENTS', 'STREAM.RESTORE.EVENTS', 'CONSUMER.DELETE.EVENTS.match'].map(publish),
  ...['CONSUMER.CREATE.EVENTS.other', 'CONSUMER.CREATE.EVENTS', 'DIRECT.GET.EVENTS'].map(publish),
  'PUB other.subject 0\r\n',
])('a client with the password cannot %s', async (line) => {
  expect(await say(earshot, line)).toMatch(/Permissions Violation for (Publish|Subscription) to/);
});

function publish(what: string): string {
  return `PUB $JS.API.${what} reply 2\r\n{}`;
}
