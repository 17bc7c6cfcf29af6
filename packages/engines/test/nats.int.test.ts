import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import type { Nats } from '../src/nats.ts';
import { startNats } from '../src/nats.ts';
import { jetStreamRequest } from './jetstream-request.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'earshot-engines-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const start = (nodes: 1 | 3): Promise<Nats> => startNats({ server: inject('natsServer'), dir, nodes });

/** Creating a stream is idempotent, so it is repeated until a leader answers. */
async function createStream(url: string, replicas: number): Promise<void> {
  const stream = { name: 'S', subjects: ['s'], storage: 'file', retention: 'limits', num_replicas: replicas };
  await expect
    .poll(() => jetStreamRequest(url, '$JS.API.STREAM.CREATE.S', stream, 3_000).catch(String), leaderComes)
    .toMatchObject({ config: { name: 'S', num_replicas: replicas } });
}

const messagesIn = (url: string): Promise<unknown> =>
  jetStreamRequest(url, '$JS.API.STREAM.INFO.S', {}, 3_000);

/** Elections take as long as the machine lets them. */
const leaderComes = { timeout: 60_000 };

test('an acknowledged message is there after SIGKILL and a restart', async () => {
  await using nats = await start(1);
  const [node] = nats.nodes;
  if (node === undefined) throw new Error('no node');
  await createStream(nats.url, 1);
  expect(await jetStreamRequest(nats.url, 's', 'hello')).toEqual({ stream: 'S', seq: 1 });
  const { pid } = node;
  await node.kill('SIGKILL');
  await expect(messagesIn(nats.url)).rejects.toThrow('ECONNREFUSED');
  await node.restart();
  expect(node.pid).not.toBe(pid);
  expect(await messagesIn(nats.url)).toMatchObject({ state: { messages: 1 } });
});

test('a second start on a used folder keeps the messages, and is refused while the first one runs', async () => {
  {
    await using nats = await start(1);
    await createStream(nats.url, 1);
    await jetStreamRequest(nats.url, 's', 'hello');
    await expect(start(1)).rejects.toThrow(`as process ${nats.nodes[0]?.pid}`);
  }
  await using again = await start(1);
  expect(await messagesIn(again.url)).toMatchObject({ state: { messages: 1 } });
});

test('a halted node can be stopped', async () => {
  const nats = await start(1);
  await nats.nodes[0]?.kill('SIGSTOP');
  const begin = performance.now();
  await nats.stop();
  expect(performance.now() - begin).toBeLessThan(20_000);
});

test('every message is synced before its acknowledgement', async () => {
  await using nats = await start(1);
  const answer = await fetch(`${nats.nodes[0]?.monitorUrl}/jsz`);
  expect(await answer.json()).toMatchObject({ config: { sync_always: true, max_storage: 20 * 1024 ** 3 } });
});

test('three nodes keep a replicated message when the node that took it is killed', async () => {
  await using nats = await start(3);
  const [first, second] = nats.nodes;
  if (first === undefined || second === undefined) throw new Error('no nodes');
  await createStream(first.url, 3);
  expect(await jetStreamRequest(first.url, 's', 'hello')).toEqual({ stream: 'S', seq: 1 });
  await first.kill('SIGKILL');
  for (const node of [second, first]) {
    if (node === first) await first.restart();
    await expect
      .poll(() => messagesIn(node.url).catch(String), leaderComes)
      .toMatchObject({ state: { messages: 1 } });
  }
});

test('one node and three nodes refuse clients without the password, and only the owner can read it', async () => {
  for (const nodes of [1, 3] as const) {
    const own = join(dir, String(nodes));
    await using nats = await startNats({ server: inject('natsServer'), dir: own, nodes, password: 's3cret' });
    const answer = jetStreamRequest(nats.nodes[0]?.url ?? '', '$JS.API.INFO', {}, 3_000);
    await expect(answer).rejects.toThrow('Authorization Violation');
    expect(nats.url).toContain('nats://earshot:s3cret@127.0.0.1:');
    for (const node of nats.nodes) {
      expect(((await stat(node.configFile)).mode & 0o777).toString(8)).toBe('600');
    }
  }
});
