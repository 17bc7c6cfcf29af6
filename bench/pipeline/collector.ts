import { once } from 'node:events';
import { createServer } from 'node:http';

/** Accepts and counts exported traces. */
export async function startCollector() {
  let requests = 0;
  let bytes = 0;
  const server = createServer((request, response) => {
    requests++;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on('end', () => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the collector has no port');
  return {
    url: `http://127.0.0.1:${address.port}/v1/traces`,
    requests: () => requests,
    bytes: () => bytes,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
