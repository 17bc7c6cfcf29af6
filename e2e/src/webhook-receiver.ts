import { once } from 'node:events';
import { createServer } from 'node:http';
import { listenOnLoopback } from '@earshot/testkit';

export interface Message {
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** A webhook receiver. It answers the first requests with these statuses (302 redirects elsewhere), all others with 200. */
export async function startReceiver({ first = [] }: { first?: readonly number[] } = {}) {
  const messages: Message[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
      response.statusCode = first[messages.length] ?? 200;
      if (response.statusCode === 302) response.setHeader('location', '/elsewhere');
      messages.push({ headers: Object.fromEntries(headers), body: Buffer.concat(chunks).toString() });
      response.end('thank you');
    });
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    messages,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
