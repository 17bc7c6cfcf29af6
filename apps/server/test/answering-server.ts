import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { listenOnLoopback } from '@earshot/testkit';

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  /** Sent instead of a JSON body. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AnsweringServer extends AsyncDisposable {
  readonly url: string;
  /** The requests so far: the body of a request, or its path if it had none. */
  readonly asked: readonly unknown[];
  /** The headers of the same requests. */
  readonly headers: readonly IncomingHttpHeaders[];
}

/** Sends these answers, one after the other, and then only 500. */
export async function startAnsweringServer(answers: readonly Answer[]): Promise<AnsweringServer> {
  const asked: unknown[] = [];
  const askedHeaders: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      askedHeaders.push(request.headers);
      asked.push(chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : request.url);
      const { status, text, body = {}, headers = {} } = answers[asked.length - 1] ?? { status: 500 };
      response.writeHead(status, headers).end(text ?? JSON.stringify(body));
    });
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    headers: askedHeaders,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
