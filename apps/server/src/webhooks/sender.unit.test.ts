import { once } from 'node:events';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { createCertificate } from '@earshot/testkit';
import { describe, expect, test, vi } from 'vitest';
import { type Handler, startEndpoint } from '../../test/web-endpoint.ts';
import { parseRetryAfterMs } from '../runtime/retry-after.ts';
import { createSender } from './sender.ts';

vi.setConfig({ testTimeout: 60_000 });

const resolve = async () => ['127.0.0.1'];
const message = { headers: { 'webhook-id': 'msg_1' }, body: '{"a":"ü"}' };

async function sendTo(handler: Handler, timeoutMs = 5_000) {
  await using endpoint = await startEndpoint(handler);
  await using sender = createSender({ resolve, allowInsecure: true, timeoutMs });
  return { attempt: await sender.send({ ...message, url: endpoint.url }), received: endpoint.received };
}

test('the endpoint gets the body and headers, and its answer is returned', async () => {
  const { attempt, received } = await sendTo((_received, response) => {
    response.writeHead(202).end('thanks');
    return undefined;
  });
  expect(attempt).toMatchObject({
    outcome: { kind: 'delivered' },
    status: 202,
    response: 'thanks',
    message: null,
  });
  expect(received).toMatchObject([
    { body: message.body, headers: { 'webhook-id': 'msg_1', 'content-type': 'application/json' } },
  ]);
});

test('only the beginning of a long answer is kept, and at most 64 KiB are read', async () => {
  let written = 0;
  const { attempt } = await sendTo((_received, response) => {
    response.writeHead(500);
    const more = () => {
      while (!response.destroyed && written < 500 * 1024 * 1024) {
        written += 65_536;
        if (!response.write('\0é'.repeat(21_845))) return void response.once('drain', more);
      }
    };
    more();
    return undefined;
  });
  expect(attempt).toMatchObject({ outcome: { kind: 'failed' }, status: 500 });
  expect(Buffer.byteLength(attempt.response ?? '')).toBeLessThan(3 * 1024);
  expect(attempt.response).not.toContain('\0');
  expect(written).toBeLessThan(50 * 1024 * 1024);
});

describe('the time limit applies to an endpoint', () => {
  test('that never answers', async () => {
    const { attempt } = await sendTo(() => undefined, 300);
    expect(attempt).toMatchObject({
      outcome: { kind: 'failed' },
      status: null,
      message: 'no answer in time',
    });
    expect(attempt.latencyMs).toBeLessThan(5_000);
  });

  test('whose answer never ends; its status still counts', async () => {
    const { attempt } = await sendTo((_received, response) => {
      response.writeHead(200).write('slowly');
      return undefined;
    }, 300);
    expect(attempt).toMatchObject({ outcome: { kind: 'delivered' }, status: 200, response: 'slowly' });
    expect(attempt.latencyMs).toBeLessThan(5_000);
  });
});

test('an endpoint that refuses or closes the connection has failed', async () => {
  const endpoint = await startEndpoint();
  await endpoint[Symbol.asyncDispose]();
  await using sender = createSender({ resolve, allowInsecure: true });
  expect(await sender.send({ ...message, url: endpoint.url })).toMatchObject({
    outcome: { kind: 'failed' },
    message: 'ECONNREFUSED',
  });
  const { attempt } = await sendTo((_received, response) => void response.destroy());
  expect(attempt).toMatchObject({ outcome: { kind: 'failed' }, status: null });
});

describe('a host with several addresses', () => {
  const refused = Object.assign(new Error(), { code: 'ECONNREFUSED' });
  const noRoute = Object.assign(new Error(), { code: 'ENETUNREACH' });

  test('gets the message at the first one that connects', async () => {
    const tls = await createCertificate('hooks.example');
    await using endpoint = await startEndpoint(() => 204, { host: '127.0.0.3', tls });
    await using sender = createSender({
      resolve: async () => ['127.0.0.2', '127.0.0.3'],
      allowInsecure: true,
      ca: tls.cert,
    });
    const url = `https://hooks.example:${endpoint.port}/`;
    expect(await sender.send({ ...message, url })).toMatchObject({ status: 204 });
  });

  test.each([
    [[noRoute, refused], 'failed', 'ECONNREFUSED'],
    [[refused, noRoute], 'failed', 'ECONNREFUSED'],
    [[noRoute, noRoute], 'not_sent', 'ENETUNREACH'],
  ])('has failed unless every failure is on our side: %j', async (failures, kind, reason) => {
    await using sender = createSender({
      resolve: () => Promise.reject(new AggregateError(failures)),
      allowInsecure: false,
    });
    const attempt = await sender.send({ ...message, url: 'https://hooks.example/' });
    expect(attempt).toMatchObject({ outcome: { kind }, message: reason });
  });
});

test('the Retry-After of a 429 is returned', async () => {
  const { attempt } = await sendTo((_received, response) => {
    response.writeHead(429, { 'retry-after': '120' }).end();
    return undefined;
  });
  expect(attempt.outcome).toEqual({ kind: 'failed', retryAfterMs: 120_000 });
});

test.each([
  ['7', 7_000],
  ['Thu, 01 Jan 1970 00:00:10 GMT', 9_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['soon', null],
  ['', null],
  ['-5', null],
  ['99999999999999', null],
  [undefined, null],
  [['1', '2'], null],
])('Retry-After %j is %s ms', (header, expected) => {
  expect(parseRetryAfterMs(header, 1_000)).toBe(expected);
});

describe('with TLS', () => {
  test('the certificate must be trusted and valid for the host name, not the address', async () => {
    const tls = await createCertificate('hooks.example');
    await using endpoint = await startEndpoint(() => 204, { tls });
    const sendBy = async (name: string, ca?: string) => {
      await using sender = createSender({
        resolve,
        allowInsecure: true,
        ...(ca === undefined ? {} : { ca }),
      });
      return await sender.send({ ...message, url: `https://${name}:${endpoint.port}/hook` });
    };
    expect(await sendBy('hooks.example', tls.cert)).toMatchObject({ status: 204 });
    expect(endpoint.received[0]?.headers['host']).toBe(`hooks.example:${endpoint.port}`);
    const refusals = [await sendBy('hooks.example'), await sendBy('other.example', tls.cert)];
    refusals.push(await sendBy('127.0.0.1', tls.cert));
    for (const refused of refusals)
      expect(refused).toMatchObject({ status: null, outcome: { kind: 'failed' } });
    expect(endpoint.received).toHaveLength(1);
  });

  test.each([
    ['hooks.example', 'hooks.example'],
    ['127.0.0.1', false],
  ])('%s sends the server name %j', async (host, expected) => {
    const tls = await createCertificate(host);
    const serverNames: unknown[] = [];
    const server = createTlsServer(tls, (socket) => {
      serverNames.push(socket.servername);
      socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    await using sender = createSender({ resolve, allowInsecure: true, ca: tls.cert });
    const attempt = await sender.send({ ...message, url: `https://${host}:${port}/` });
    expect({ status: attempt.status, serverNames }).toEqual({ status: 204, serverNames: [expected] });
    server.close();
  });

  test('an endpoint without TLS takes no longer than the time limit', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((done) => silent.once('listening', done));
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;
    await using sender = createSender({ resolve, allowInsecure: true, timeoutMs: 300 });
    const attempt = await sender.send({ ...message, url: `https://hooks.example:${port}/` });
    expect(attempt).toMatchObject({ status: null, outcome: { kind: 'failed' } });
    expect(attempt.latencyMs).toBeLessThan(5_000);
    silent.close();
  });
});
