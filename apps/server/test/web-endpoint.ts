import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The `host` header of the request. */
  readonly path: string;
}

/** What a handler does with a message: answers with a status, or anything else. */
export type Handler = (received: Received, response: ServerResponse) => number | undefined;

export interface WebEndpoint extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly received: Received[];
  /** Connections opened so far, with or without requests. */
  connections(): number;
}

/** A webhook receiver's endpoint. */
export async function startEndpoint(
  handler: Handler = () => 200,
  options: { host?: string; port?: number; tls?: { key: string; cert: string } } = {},
): Promise<WebEndpoint> {
  const received: Received[] = [];
  let connections = 0;
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      const one = { headers, body: Buffer.concat(chunks).toString(), path: request.url ?? '' };
      received.push(one);
      const status = handler(one, response);
      if (status !== undefined) response.writeHead(status).end();
    });
  };
  const server = options.tls ? createTlsServer(options.tls, listener) : createServer(listener);
  server.on('connection', () => void connections++);
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  // A TCP server has a port.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${options.tls ? 'https' : 'http'}://${options.host ?? '127.0.0.1'}:${port}/hook`,
    received,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
