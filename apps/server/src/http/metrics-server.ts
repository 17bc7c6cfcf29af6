import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from '../observability/metrics.ts';

export interface MetricsServer extends AsyncDisposable {
  readonly port: number;
}

/** Metrics have their own address and port, so that they need not be reachable from where the API is. */
export async function startMetricsServer(options: {
  host: string;
  port: number;
  metrics: Metrics;
}): Promise<MetricsServer> {
  const { registry } = options.metrics;
  const server = createServer((request, response) => {
    response.setHeader('x-content-type-options', 'nosniff');
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
