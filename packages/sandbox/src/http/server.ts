import { createServer, type IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, type Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Exchange, openExchange, Refusal, sendJson, sendRefusal } from './exchange.ts';
import { findRoute, type Route } from './router.ts';

/** The handler takes the socket over, or throws a refusal before it does. */
export type SocketRoute<Deps> = readonly [
  path: string,
  handler: (exchange: Exchange, socket: Socket, head: Buffer, deps: Deps) => void,
];

/** Listens on loopback by default, because the control API has no authentication. */
export async function startServer<Deps>(
  { host, port = 0 }: { readonly host?: string; readonly port?: number },
  { routes, socketRoutes }: { routes: readonly Route<Deps>[]; socketRoutes: readonly SocketRoute<Deps>[] },
  deps: Deps,
) {
  const socketHandler = ({ url }: IncomingMessage) =>
    socketRoutes.find(([path]) => path === url?.split('?')[0])?.[1];
  const shouldUpgradeCallback = (request: IncomingMessage) => socketHandler(request) !== undefined;
  const server = createServer({ shouldUpgradeCallback }, (request, response) => {
    request.socket.setNoDelay(true);
    void answer(openExchange(request, response), routes, deps);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!(socket instanceof Socket)) throw new TypeError('the sandbox upgrades TCP sockets only');
    socket.setNoDelay(true);
    const response = new ServerResponse(request);
    try {
      socketHandler(request)?.(openExchange(request, response), socket, head, deps);
    } catch (error) {
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.once('finish', () => socket.end());
      sendFailure(response, error);
    }
  });
  // Longer than callers keep a connection that they do not use: one that is closed just as it is used again loses a request.
  server.keepAliveTimeout = 65_000;
  const listening = await listen(server, port, host);
  return {
    url: `http://127.0.0.1:${listening}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer<Deps>(exchange: Exchange, routes: readonly Route<Deps>[], deps: Deps): Promise<void> {
  try {
    const handler = findRoute(routes, exchange);
    if (handler === undefined) throw new Refusal(404, notFound(exchange));
    await handler(exchange, deps);
  } catch (error) {
    sendFailure(exchange.response, error);
  }
}

function sendFailure(response: ServerResponse, error: unknown): void {
  if (error instanceof Refusal) sendRefusal(response, error);
  // A bug of the sandbox: report it to the caller and keep serving.
  else sendJson(response, 500, { message: `sandbox failure: ${String(error)}` });
}

function notFound({ method, path }: Exchange): object {
  const message = `The sandbox has no ${method} ${path}.`;
  return { title: 'Not Found', type: 'about:blank', status: 404, detail: message, message };
}

function isAddressInfo(address: string | AddressInfo | null): address is AddressInfo {
  return typeof address === 'object' && address !== null;
}

/** Returns the port. */
export async function listen(server: Server, port: number, host = '127.0.0.1'): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  if (!isAddressInfo(address)) throw new Error('the sandbox server has no TCP address');
  return address.port;
}
