import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ListeningProxy extends AsyncDisposable {
  readonly url: string;
  /** The paths of all requests, in order. */
  requestPaths(): string[];
  /** Runs when the server has answered and the client has no answer yet; the client gets it when this ends. */
  onAnswer(listener: (path: string, request: string) => Promise<void>): void;
}

/** Between a client and the server: records the requests, and can act before the answer arrives. */
export async function startListeningProxy(target: string): Promise<ListeningProxy> {
  const paths: string[] = [];
  let listener: (path: string, request: string) => Promise<void> = () => Promise.resolve();
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const path = incoming.url ?? '/';
    paths.push(path);
    const body = await text(incoming);
    const { host: _, connection: __, 'content-length': ___, ...headers } = incoming.headers;
    const answer = await fetch(new URL(path, target), {
      method: incoming.method ?? 'GET',
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
      ...(body === '' ? {} : { body }),
    });
    const answered = await answer.text();
    await listener(path, body);
    const retryAfter = answer.headers.get('retry-after');
    outgoing.writeHead(answer.status, {
      'content-type': 'application/json',
      ...(retryAfter === null ? {} : { 'retry-after': retryAfter }),
    });
    outgoing.end(answered);
  };
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requestPaths: () => paths,
    onAnswer(next) {
      listener = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
