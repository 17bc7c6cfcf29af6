import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Milliseconds on this machine's clock. */
  readonly receivedAt: number;
}

/** An HTTP server that gives these answers in order, then always the last one. */
export async function startAnsweringServer(
  ...answers: readonly ((response: ServerResponse, request: ReceivedRequest) => void)[]
) {
  const requests: ReceivedRequest[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request;
    const receivedAt = performance.now();
    const one = { method, url, headers, body: await text(request), receivedAt };
    requests.push(one);
    answers[Math.min(requests.length, answers.length) - 1]?.(response, one);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

export const failure = (status: number, code: string, headers: Record<string, string> = {}, details = {}) =>
  json(status, { code, message: `because ${code}`, details: { request_id: 'req_1', ...details } }, headers);

export const proxyPage =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<html>Bad gateway</html>');
  };

export const cut = (response: ServerResponse) => {
  response.destroy();
};
