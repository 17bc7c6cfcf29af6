import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ForgetfulProxy extends AsyncDisposable {
  readonly url: string;
  /** The number of requests that would have resumed. */
  stripped(): number;
}

/** Passes everything on to Firehose except the resume position: a client without memory. */
export async function startForgetfulProxy(target: string): Promise<ForgetfulProxy> {
  let stripped = 0;
  const server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '/', target);
    const { 'last-event-id': resume, ...headers } = incoming.headers;
    if (resume !== undefined || url.searchParams.has('since')) stripped++;
    url.searchParams.delete('since');
    const forwarded = request(url, { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stripped: () => stripped,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
