import { once } from 'node:events';
import { request, ServerResponse } from 'node:http';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import { listen } from './server.ts';

export interface TlsOptions {
  /** PEM. */
  readonly key: string;
  readonly cert: string;
}

/** What HTTP/1.1 says of a connection, which HTTP/2 does not know. */
const hopByHop = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade'];

/** The same sandbox as a public service is reached: by TLS, in HTTP/2 or HTTP/1.1, whichever the client prefers. */
export async function startTlsFront(port: number, target: string, tls: TlsOptions) {
  const server = createSecureServer({ ...tls, allowHTTP1: true }, (incoming, answer) =>
    forward(target, incoming, answer),
  );
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const listening = await listen(server, port);
  return {
    url: `https://localhost:${listening}`,
    async close(): Promise<void> {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function forward(target: string, incoming: Http2ServerRequest, answer: Http2ServerResponse): void {
  const headers = Object.entries(incoming.headers).filter(
    ([name]) => !name.startsWith(':') && !hopByHop.includes(name),
  );
  const passed = request(new URL(incoming.url, target), {
    method: incoming.method,
    headers: Object.fromEntries(headers),
    agent: false,
  });
  passed.on('response', (response) => {
    const kept = Object.entries(response.headers).filter(([name]) => !hopByHop.includes(name));
    answer.writeHead(response.statusCode ?? 502, Object.fromEntries(kept));
    // In HTTP/1.1 headers wait for the first byte of the body, which a quiet stream does not send for long.
    if (answer instanceof ServerResponse) answer.flushHeaders();
    response.on('error', () => answer.destroy());
    response.pipe(answer);
  });
  passed.on('error', () => answer.destroy());
  // A client that is gone is gone for the sandbox too.
  answer.on('close', () => passed.destroy());
  incoming.pipe(passed);
}
