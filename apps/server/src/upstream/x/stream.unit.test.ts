import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { listenOnLoopback } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { type Answer, startAnsweringServer } from '../../../test/answering-server.ts';
import { createUpstreamClient } from '../client.ts';
import { StreamEnded, type StreamEnding, type StreamFrame } from '../upstream-stream.ts';
import { createXStream } from './stream.ts';

const problems = 'https://api.twitter.com/2/problems';
const connection = (issue: string) => ({
  title: 'ConnectionException',
  connection_issue: issue,
  type: `${problems}/streaming-connection`,
});

async function connect(answer: Answer): Promise<{ frames: StreamFrame[]; ending: StreamEnding }> {
  await using server = await startAnsweringServer([answer]);
  await using client = createUpstreamClient({ baseUrl: server.url, token: 't', name: 'X' });
  const frames: StreamFrame[] = [];
  try {
    const from = { after: null, since: null, now: new Date() };
    for await (const frame of createXStream(client).open(from, new AbortController().signal))
      frames.push(frame);
  } catch (error) {
    if (error instanceof StreamEnded) return { frames, ending: error.ending };
    throw error;
  }
  throw new Error('it ended without saying how');
}

/** Every answer to a connection attempt that X documents or was seen. */
test.each<[status: number, body: object, ending: StreamEnding]>([
  [400, { title: 'Invalid Request', type: `${problems}/invalid-request` }, { kind: 'bad_request' }],
  [401, { title: 'Unauthorized', type: 'about:blank' }, { kind: 'credentials' }],
  [402, { title: 'CreditsDepleted' }, { kind: 'no_credit' }],
  [403, { title: 'Client Forbidden', type: `${problems}/client-forbidden` }, { kind: 'credentials' }],
  [403, { title: 'SpendCapReached' }, { kind: 'spend_cap' }],
  [409, connection('RulesInvalidIssue'), { kind: 'rules_invalid' }],
  [404, {}, { kind: 'bad_request' }],
  [409, connection('RuleConfigurationIssue'), { kind: 'no_rules' }],
  [429, connection('TooManyConnections'), { kind: 'connection_in_use' }],
  [429, { errors: [connection('TooManyConnections')] }, { kind: 'connection_in_use' }],
  [429, { title: 'UsageCapExceeded', type: `${problems}/usage-capped` }, { kind: 'usage_cap' }],
  [429, { title: 'Too Many Requests', type: 'about:blank' }, { kind: 'rate_limited', retryAfterMs: null }],
  [429, { errors: [{ code: 88, message: 'slow down' }] }, { kind: 'rate_limited', retryAfterMs: null }],
  [503, connection('ProvisioningSubscription'), { kind: 'provisioning' }],
  [503, {}, { kind: 'failing', status: 503 }],
  [500, {}, { kind: 'failing', status: 500 }],
])('a connection that X answers with %i and %j', async (status, body, ending) => {
  expect(await connect({ status, body })).toEqual({ frames: [], ending });
});

test('an HTML page instead of a problem is judged by its status alone', async () => {
  const { ending } = await connect({ status: 429, text: '<html>', headers: { 'retry-after': '30' } });
  expect(ending).toEqual({ kind: 'rate_limited', retryAfterMs: 30_000 });
});

test('records are items, empty lines are keep-alives, and the end is a drop', async () => {
  const text = '\r\n{"data":1}\r\n\r\n{"data":2}\r\n{"half"';
  expect(await connect({ status: 200, text })).toEqual({
    frames: [
      { kind: 'opened' },
      { kind: 'alive' },
      { kind: 'item', upstreamId: null, text: '{"data":1}' },
      { kind: 'alive' },
      { kind: 'item', upstreamId: null, text: '{"data":2}' },
    ],
    ending: { kind: 'dropped' },
  });
});

test('a caller that stops before it reads closes the connection', { timeout: 5_000 }, async () => {
  const connected = Promise.withResolvers<Socket>();
  const server = createServer((request, response) => {
    response.writeHead(200).flushHeaders();
    connected.resolve(request.socket);
  });
  const baseUrl = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  await using client = createUpstreamClient({ baseUrl, token: 't', name: 'X' });
  const stream = createXStream(client, { silenceMaxMs: 0 });
  for await (const frame of stream.open(
    { after: null, since: null, now: new Date() },
    new AbortController().signal,
  )) {
    expect(frame).toEqual({ kind: 'opened' });
    break;
  }
  await once(await connected.promise, 'close');
  server.close();
});
