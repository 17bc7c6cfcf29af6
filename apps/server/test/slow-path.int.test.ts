import { createServer } from 'node:http';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { defaultXToken, startSandbox } from '@earshot/sandbox';
import { createCertificate, listenOnLoopback, startTcpProxy } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { createUpstreamClient } from '../src/upstream/client.ts';
import { StreamEnded, type StreamFrame } from '../src/upstream/upstream-stream.ts';
import { createXRules } from '../src/upstream/x/rules.ts';
import { createXStream } from '../src/upstream/x/stream.ts';
import { byHand } from './upstream-world.ts';

const never = new AbortController().signal;
const from = { after: null, since: null, now: new Date() };
/** Long against the second by which our HTTP client's clock may be late. */
const silenceMaxMs = 8_000;

/** How long nothing is received when a stream's connection passes no more bytes, while a new one would. */
async function outageMs(url: string): Promise<number> {
  const target = { port: Number(new URL(url).port) };
  await using proxy = await startTcpProxy({ target });
  const baseUrl = url.replace(`:${target.port}`, `:${proxy.port}`);
  await using client = createUpstreamClient({ baseUrl, token: defaultXToken, name: 'X' });
  const stream = createXStream(client, { silenceMaxMs });
  const opened = stream.open(from, never)[Symbol.asyncIterator]();
  expect((await opened.next()).value).toEqual({ kind: 'opened' } satisfies StreamFrame);
  const frozenAt = performance.now();
  proxy.freeze();
  await expect(drain(opened)).rejects.toThrow(StreamEnded);
  const again = stream.open(from, never)[Symbol.asyncIterator]();
  expect((await again.next()).value).toEqual({ kind: 'opened' });
  const ms = performance.now() - frozenAt;
  expect(proxy.fired.held).toBeGreaterThan(0);
  return ms;
}

async function drain(frames: AsyncIterator<StreamFrame>): Promise<void> {
  while (!(await frames.next()).done);
}

describe.concurrent('a slow or dead path to an upstream', () => {
  test('is detected as fast by TLS, where HTTP/2 is offered, as by plain HTTP', {
    timeout: 60_000,
  }, async () => {
    const tls = await createCertificate('localhost');
    setDefaultCACertificates([...getCACertificates(), tls.cert]);
    // X accepts the new connection: it does not know about the dead path either.
    const start = () =>
      startSandbox({
        tls,
        xApps: [{ token: defaultXToken, knobs: { secondConnection: 'replace' } }],
        rateLimits: false,
      });
    await using one = await start();
    await using other = await start();
    for (const { url } of [one, other]) {
      await using client = createUpstreamClient({ baseUrl: url, token: defaultXToken, name: 'X' });
      await createXRules(client).add([{ value: 'acme', tag: 'a' }], byHand);
    }
    const [plain, byTls] = await Promise.all([outageMs(one.url), outageMs(other.tlsUrl ?? '')]);
    expect(byTls / plain, `${byTls} ms by TLS, ${plain} ms by HTTP/1.1`).toBeLessThan(1.2);
  });

  test('may delay the headers of a stream by 12 s', { timeout: 60_000 }, async () => {
    const server = createServer(
      (_request, response) => void setTimeout(() => response.writeHead(200).flushHeaders(), 12_000),
    );
    const port = await listenOnLoopback(server);
    const baseUrl = `http://127.0.0.1:${port}`;
    {
      await using client = createUpstreamClient({ baseUrl, token: 't', name: 'X' });
      const frames = createXStream(client).open(from, never)[Symbol.asyncIterator]();
      expect((await frames.next()).value).toEqual({ kind: 'opened' });
    }
    server.closeAllConnections();
    server.close();
  });
});
