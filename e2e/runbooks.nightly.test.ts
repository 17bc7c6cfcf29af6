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

const natsIsWell = /"status": *"ok"/;

/** What the commands of each page print on a healthy node. The test of webhooks covers the other page. */
const shownWhenWell: Readonly<Record<string, readonly RegExp[]>> = {
  'docs/operations/database-restored.md': [/^earshot_event_log_gaps_total\{fate="found"\} 0\n/, /^$/],
  'docs/operations/database-unreachable.md': [/^reached; standby: false$/],
  'docs/operations/earshot-down.md': [/^\{"status":"ready"\}$/],
  'docs/operations/event-log-filling-up.md': [
    /^earshot_event_log_bytes \d+\nearshot_event_log_bytes_max \d+\nearshot_event_log_waiting \d+$/,
  ],
  'docs/operations/event-log-gap.md': [/^earshot_event_log_gaps_total\{fate="found"\} 0\n/],
  'docs/operations/event-log-lost.md': [/^earshot_event_log_losses_total\{fate="lost"\} 0\n/],
  'docs/operations/event-log-refusing.md': [/"status": *"ok"[^]*"storage": \d+[^]*"max_storage": \d+/],
  'docs/operations/matches-late.md': [/^\d+\nearshot_database_connected 1\nearshot_nats_connected 1\n/],
  'docs/operations/nats-unreachable.md': [natsIsWell],
  'docs/operations/requests-failing.md': [
    /^\{"status":"ready"\}$/,
    /^earshot_database_pool\{pool="runtime",state="busy"\} \d+\n[^]*^idle\|Client\|/m,
  ],
  'docs/operations/review-needed.md': [
    /^earshot_clock_offset_seconds 0\nearshot_gaps_waiting_for_budget 0\n/,
  ],
  'docs/operations/source-action-required.md': [/^firehose:main\|\w+\|.*\nx:main\|\w+\|/],
  'docs/operations/source-disconnected.md': [/^firehose:main\|\w+\|[\w.-]+\|.*\nx:main\|\w+\|[\w.-]+\|/],
  'docs/operations/webhooks-late.md': [/^earshot_database_pool\{/],
};

/** A webhook endpoint that answers with the status that the test sets. */
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
  /** Runs each block of an alert's page as an operator runs it beside the node and NATS. */
  const follow = async (page: string, { metricsUrl }: ServerUnderTest): Promise<string[]> => {
    const env = { ...process.env, EARSHOT_DATABASE_URL: database.urls.runtime };
    const monitor = new URL(world.nats.nodes[0]?.monitorUrl ?? '').host;
    const outputs: string[] = [];
    for (const block of await readShellBlocks(page)) {
      const command = block
        .replaceAll('127.0.0.1:9464', new URL(metricsUrl).host)
        .replaceAll('127.0.0.1:8222', monitor);
      outputs.push((await promisify(execFile)('/bin/sh', ['-ec', command], { env })).stdout.trim());
    }
    return outputs;
  };

  const first = await world.startServer(newSecretsKey());
  for (const [page, expected] of Object.entries(shownWhenWell)) {
    const outputs = await follow(page, first);
    expect({ page, outputs }).toEqual({
      page,
      outputs: expected.map((shown) => expect.stringMatching(shown)),
    });
  }

  const api = first.api(account);
  const { rule_id } = await api.createRule({ x: 'rocket' });
  const created = await api.call('POST', '/api.CreateWebhook', {
    name: 'hook',
    url: endpoint.url,
    rule_ids: [rule_id],
  });
  const { webhook_id } = Object(created.json);
  await world.sandbox.posts(['a rocket']);
  await eventually(
    async () =>
      expect(await follow('docs/operations/webhooks-not-delivered.md', first)).toEqual([
        expect.stringMatching(/^failed\|500\|.*\|1\nearshot_webhook_secrets_unreadable 0$/),
      ]),
    within,
  );
  await first.kill();

  // Another key, as if the first one were lost.
  const second = await world.startServer(newSecretsKey());
  await eventually(
    async () =>
      expect(await follow('docs/operations/webhooks-not-delivered.md', second)).toEqual([
        expect.stringMatching(
          /^not_sent\|\|the service cannot read the signing secret\|1\n(.*\n)*earshot_webhook_secrets_unreadable 1$/m,
        ),
      ]),
    within,
  );
  // docs/operations/webhooks-not-delivered.md: the owner rotates the secret twice.
  endpoint.status = 200;
  const ask = async (operation: string) =>
    Object((await second.api(account).call('POST', `/api.${operation}`, { webhook_id })).json);
  await ask('RotateWebhookSecret');
  expect(await ask('TestWebhook')).toMatchObject({ outcome: 'not_sent' });
  await ask('RotateWebhookSecret');
  expect(await ask('TestWebhook')).toMatchObject({ outcome: 'delivered' });
});
