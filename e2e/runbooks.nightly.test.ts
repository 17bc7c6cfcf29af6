import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { eventually, listenOnLoopback, migratedTemplate } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { readShellBlocks } from './src/page-blocks.ts';
import { type ServerUnderTest, startWorld } from './src/world.ts';

const within = { timeoutMs: 60_000 };
const newSecretsKey = () => ({
  EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
  EARSHOT_TEST: 'allowInsecureWebhooks=true',
});

/** An endpoint of webhooks that answers as it is told. */
async function startEndpoint(stack: AsyncDisposableStack) {
  const endpoint = { url: '', status: 500 };
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.statusCode = endpoint.status;
      response.end();
    });
  });
  endpoint.url = `http://127.0.0.1:${await listenOnLoopback(server)}/`;
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return endpoint;
}

test('the commands of the runbooks work as written, and webhooks survive the loss of EARSHOT_SECRETS_KEY', async () => {
  await using stack = new AsyncDisposableStack();
  const endpoint = await startEndpoint(stack);
  const database = stack.use(await migratedTemplate().clone());
  const world = stack.use(await startWorld({ database }));
  const account = await world.newAccount();
  /** Each block of an alert's page, as an operator runs it beside the node. */
  const follow = async (page: string, { metricsUrl }: ServerUnderTest): Promise<string[]> => {
    const env = { ...process.env, EARSHOT_DATABASE_URL: database.urls.runtime };
    const outputs: string[] = [];
    for (const block of await readShellBlocks(page)) {
      const command = block.replace('127.0.0.1:9464', new URL(metricsUrl).host);
      outputs.push((await promisify(execFile)('/bin/sh', ['-ec', command], { env })).stdout.trim());
    }
    return outputs;
  };

  const first = await world.startServer(newSecretsKey());
  expect(await follow('docs/operations/earshot-down.md', first)).toEqual(['{"status":"ready"}']);
  expect(await follow('docs/operations/matching-stopped.md', first)).toEqual(['{"status":"ready"}']);
  const [connections = ''] = await follow('docs/operations/database-pool-exhausted.md', first);
  expect(connections).toMatch(/^([\w ]*\|\w*\|\w*\|\d+\n?)+$/);
  expect(connections).toMatch(/^idle\|Client\|/m);

  const api = first.api(account);
  const { rule_id } = await api.createRule({ x: 'rocket' });
  const created = await api.call('POST', '/api.CreateWebhook', { name: 'hook', url: endpoint.url, rule_id });
  const { webhook_id } = Object(created.json);
  await world.sandbox.posts(['a rocket']);
  await eventually(
    async () =>
      expect(await follow('docs/operations/webhooks-failing.md', first)).toEqual([
        expect.stringMatching(/^500\|.*\|1$/),
      ]),
    within,
  );
  expect(await follow('docs/operations/webhooks-not-sent.md', first)).toEqual(['']);
  await first.kill();

  // Another key: as if the first one were lost.
  const second = await world.startServer(newSecretsKey());
  const metrics = async () => await (await fetch(second.metricsUrl)).text();
  await eventually(
    async () => expect(await metrics()).toContain('earshot_webhook_secrets_unreadable 1\n'),
    within,
  );
  await eventually(
    async () =>
      expect(await follow('docs/operations/webhooks-not-sent.md', second)).toEqual([
        expect.stringMatching(/^the signing secret cannot be read by the service\|[1-9]\d*$/),
      ]),
    within,
  );
  // docs/operations/webhook-secrets-unreadable.md: the owner makes a new secret, twice.
  endpoint.status = 200;
  const ask = async (operation: string) =>
    Object((await second.api(account).call('POST', `/api.${operation}`, { webhook_id })).json);
  await ask('RotateWebhookSecret');
  expect(await ask('TestWebhook')).toMatchObject({ outcome: 'not_sent' });
  await ask('RotateWebhookSecret');
  expect(await ask('TestWebhook')).toMatchObject({ outcome: 'delivered' });
});
