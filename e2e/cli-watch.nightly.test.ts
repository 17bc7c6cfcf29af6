import { access, readFile, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { createEarshot, verifyWebhook } from '@earshot/sdk';
import { eventually, listenOnLoopback } from '@earshot/testkit';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type BuiltCli, buildCliOnce, type RunOptions } from './src/built-cli.ts';
import { startReceiver } from './src/webhook-receiver.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
let account: Account;
let cli: BuiltCli;

beforeAll(async () => {
  world = await startWorld();
  server = await world.startServer();
  account = await world.newAccount();
  cli = await buildCliOnce(() => ({ EARSHOT_URL: server.url, EARSHOT_API_KEY: account.key }));
  await server.api(account).createRule({ x: 'comet' });
});
afterEach(() => cli.killStarted());
afterAll(async () => {
  await cli?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

const patiently = { timeoutMs: 60_000 };
const sdk = () => createEarshot({ url: server.url, key: account.key });

/** Waits until these posts are stored, so that a reader that starts now does not get them. */
async function post(...texts: string[]): Promise<string[]> {
  await world.sandbox.posts(texts);
  return await eventually(async () => {
    const { matches } = await server.api(account).matches({ limit: 100 });
    const found = texts.map((text) => matches.find(({ payload }) => payload.text === text)?.id ?? '');
    expect(found).not.toContain('');
    // In log order, which can differ from the order of the posts.
    return found.toSorted();
  }, patiently);
}

const idsOf = (batch: unknown): string[] => Object(batch).matches.map(({ id }: { id: string }) => id);

describe('earshot listen', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

  /** Uses a named reader: it may be started before or after the post. */
  const listening = async (url: string, reader: string, ...more: string[]) => {
    await sdk().readMatches({ reader, start: 'now' });
    return cli.start(['listen', '--forward-to', url, '--reader', reader, '--secret', secret, ...more]);
  };

  test('posts each match as a webhook would, and prints the response', async () => {
    await using receiver = await startReceiver();
    const running = await listening(receiver.url, 'signed');
    const [id] = await post('a comet to sign');
    await eventually(
      () => expect(running.output.stdout).toMatch(/^\d\d:\d\d:\d\d {2}200 {2}\d+ ms {2}msg_[\w-]{22}\n$/),
      patiently,
    );
    const [message] = receiver.messages;
    if (!message) throw new Error('no message arrived');
    const { body, headers } = message;
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'matches', matches: [{ id }] });
    expect(await verifyWebhook({ secret, body, headers })).toMatchObject({ id: headers['webhook-id'] });
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow('No matching signature');
    running.process.kill('SIGINT');
    expect(await running.exited).toBe(130);
    expect(running.output.stderr).toBe('');
  });

  test('repeats the same bytes under the same id until they are accepted, follows no redirect, and skips refused matches', async () => {
    await using receiver = await startReceiver({ first: [500, 302, 204, 400] });
    const running = await listening(receiver.url, 'patient', '--json');
    const ids = await post('a comet one', 'a comet two', 'a comet three');
    await eventually(() => expect(receiver.messages).toHaveLength(5), patiently);
    const [first, second, third, ...others] = receiver.messages;
    for (const again of [second, third]) {
      expect(again?.body).toBe(first?.body);
      expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    }
    expect([first, ...others].flatMap((one) => idsOf(JSON.parse(one?.body ?? '{}')))).toEqual(ids);
    await eventually(() => expect(running.output.stdout.split('\n')).toHaveLength(6), patiently);
    const attempts = running.output.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(attempts.map(({ status, attempt }) => [status, attempt])).toEqual([
      [500, 1],
      [302, 2],
      [204, 3],
      [400, 1],
      [200, 1],
    ]);
    // A match is acknowledged when the next one is requested.
    await eventually(async () => {
      const { matches } = await sdk().readMatches({ reader: 'patient' });
      expect(matches).toEqual([]);
    }, patiently);
  });
});

describe('earshot watch', () => {
  /** The batches that a reader's command has received so far; `exec` appends them to a file. */
  const batchesOf = async (reader: string): Promise<unknown[]> => {
    const text = await readFile(join(cli.dir, `${reader}.jsonl`), 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  };
  const startWatch = (reader: string, exec: string, options: RunOptions = {}) =>
    cli.start(['watch', '--reader', reader, '--exec', `cat >> ${reader}.jsonl; ${exec}`], options);
  const unacknowledged = async (reader: string) => idsOf(await sdk().readMatches({ reader, start: 'now' }));

  test('runs the command again with the same matches until it exits with 0, and then acknowledges them', async () => {
    await unacknowledged('crashing');
    const ids = await post('a comet', 'another comet');
    const running = startWatch('crashing', 'test -e fixed || kill -9 $$');
    await eventually(async () => expect((await batchesOf('crashing')).length).toBeGreaterThan(1), patiently);
    expect(await unacknowledged('crashing')).toEqual(ids);
    expect(running.output.stderr).toMatch(
      /ended with SIGKILL, so nothing is acknowledged\. It runs again in \d+ s\./,
    );
    await writeFile(join(cli.dir, 'fixed'), '');
    await eventually(async () => expect(await unacknowledged('crashing')).toEqual([]), patiently);
    for (const batch of await batchesOf('crashing'))
      expect({ ids: idsOf(batch), ...Object(batch) }).toMatchObject({ ids, reader: 'crashing', removed: [] });
    const later = await post('a comet afterwards');
    await eventually(
      async () => expect(idsOf((await batchesOf('crashing')).at(-1))).toEqual(later),
      patiently,
    );
    running.process.kill('SIGINT');
    expect(await running.exited).toBe(130);
  });

  test("killed between the command's success and its acknowledgement, it runs the command again with the same matches", async () => {
    await unacknowledged('killed');
    const ids = await post('a comet that comes twice');
    const acknowledging = Promise.withResolvers<void>();
    // Passes on everything except acknowledgements.
    const proxy = createServer((incoming, outgoing) => {
      if (incoming.url === '/api.AckMatches') {
        acknowledging.resolve();
        return;
      }
      const { method, headers } = incoming;
      const passed = request(new URL(incoming.url ?? '/', server.url), { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      passed.on('error', () => outgoing.destroy());
      incoming.pipe(passed);
    });
    const env = { EARSHOT_URL: `http://127.0.0.1:${await listenOnLoopback(proxy)}` };
    const first = startWatch('killed', 'true', { env });
    await acknowledging.promise;
    first.process.kill('SIGKILL');
    await first.exited;
    proxy.closeAllConnections();
    proxy.close();
    expect((await batchesOf('killed')).map(idsOf)).toEqual([ids]);
    startWatch('killed', 'true');
    await eventually(async () => expect(await unacknowledged('killed')).toEqual([]), patiently);
    expect((await batchesOf('killed')).map(idsOf)).toEqual([ids, ids]);
  });

  test('ended by a signal, it ends a hanging command with its children, and acknowledges nothing', async () => {
    await unacknowledged('hanging');
    const ids = await post('a comet that hangs');
    const running = startWatch('hanging', 'sleep 1000 & echo $! > hanging.pid; wait');
    const pid = await eventually(async () => {
      const written = Number(await readFile(join(cli.dir, 'hanging.pid'), 'utf8').catch(() => ''));
      expect(written).toBeGreaterThan(0);
      return written;
    }, patiently);
    running.process.kill('SIGTERM');
    // The output is closed only when the children have ended.
    expect(await running.exited).toBe(143);
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), patiently);
    expect(await unacknowledged('hanging')).toEqual(ids);
  });

  test('passes untrusted content only on standard input: not in arguments, not in the environment', async () => {
    await unacknowledged('hostile');
    const text = `a comet "; touch pwned; ' $(touch pwned) \`touch pwned\` \${IFS} %s --exec`;
    const ids = await post(text);
    startWatch('hostile', 'env > hostile.env; tr "\\0" " " < /proc/$$/cmdline > hostile.args');
    await eventually(async () => expect(await unacknowledged('hostile')).toEqual([]), patiently);
    expect(await batchesOf('hostile')).toMatchObject([{ matches: [{ id: ids[0], payload: { text } }] }]);
    for (const file of ['hostile.env', 'hostile.args'])
      expect(await readFile(join(cli.dir, file), 'utf8')).not.toMatch(/comet|pwned|mat_/);
    await expect(access(join(cli.dir, 'pwned'))).rejects.toThrow('ENOENT');
  });
});
