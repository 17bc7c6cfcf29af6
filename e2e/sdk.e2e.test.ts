import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createEarshot, type Earshot, verifyWebhook } from '@earshot/sdk';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
let account: Account;
let earshot: Earshot;
beforeAll(async () => {
  world = await startWorld();
  server = await world.startServer({
    EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
    EARSHOT_TEST: 'allowInsecureWebhooks=true',
  });
  account = await world.newAccount();
  earshot = createEarshot({ url: server.url, key: account.key });
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** The first lines of the package's README, as a program of its own. */
async function startReadme(): Promise<ChildProcessByStdio<null, Readable, null>> {
  const readme = await readFile(new URL('../packages/sdk/README.md', import.meta.url), 'utf8');
  const code = /^```ts\n(.*?)^```$/ms.exec(readme)?.[1] ?? '';
  const here = code.replace('http://127.0.0.1:8080', server.url).replace('esk_…', account.key);
  return spawn('node', ['--input-type=module-typescript', '--eval', here], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

test('the first five lines of the README print matches', async () => {
  const program = await startReadme();
  try {
    const lines: string[] = [];
    createInterface({ input: program.stdout }).on('line', (line) => lines.push(line));
    // It begins with the matches after its start, and says not when that was.
    await eventually(
      async () => {
        await world.sandbox.posts(['a rocket launch at night']);
        expect(lines[0]).toMatch(/^https:\/\/\S+ a rocket launch at night$/);
      },
      { timeoutMs: 60_000 },
    );
  } finally {
    program.kill();
    await once(program, 'close');
  }
  expect(await earshot.listRules()).toMatchObject({ rules: [{ name: 'Rockets', state: 'active' }] });
});

test('errors of the real server have their code, details and request', async () => {
  await expect(earshot.getRule({ rule_id: 'rule_none' })).rejects.toMatchObject({
    code: 'not_found',
    status: 404,
    retryable: false,
    requestId: expect.stringMatching(/./),
  });
  const rule = { name: 'n', intent: 'i', platforms: ['x' as const], overrides: { x: 'a AND b' } };
  await expect(earshot.createRule(rule)).rejects.toMatchObject({
    code: 'invalid_argument',
    details: { violations: [expect.objectContaining({ field: 'overrides.x' })] },
  });
});

test('what the server posts to a webhook is verified, also with two secrets', async () => {
  const messages: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const receiver = createServer((request, response) => {
    void buffer(request).then((body) => {
      messages.push({ headers: request.headers, body });
      response.end();
    });
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  try {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const { webhook_id, secret } = await earshot.createWebhook({ name: 'sdk', url });
    await earshot.testWebhook({ webhook_id });
    const rotated = await earshot.rotateWebhookSecret({ webhook_id });
    await earshot.testWebhook({ webhook_id });
    const [before, after] = messages;
    const message = { type: 'test', webhook_id };
    const verify = (by: string | null, one: typeof before) =>
      verifyWebhook({ secret: by ?? '', headers: one?.headers ?? {}, body: one?.body ?? '' });
    expect(await verify(secret, before)).toMatchObject({ message });
    expect(await verify(secret, after)).toMatchObject({ message });
    expect(await verify(rotated.secret, after)).toMatchObject({ message });
    await expect(verify(rotated.secret, before)).rejects.toThrow('No signature fits');
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
});
