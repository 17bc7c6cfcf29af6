import type * as http from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Metrics } from '../observability/metrics.ts';

// Not by `import`, which reads every export of a module: one export of `node:http` loads fetch, which takes 12 MiB and is not used.
const { createServer }: typeof http = createRequire(import.meta.url)('node:http');

export interface MetricsServer extends AsyncDisposable {
  readonly port: number;
}

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
}

const unknown = async (): Promise<Answer> => ({ status: 404, body: '' });
const json = { type: 'application/json; charset=utf-8' };

/**
 * Metrics have their own address and port, so that they need not be reachable from where the API is. Health is served here too, by
 * nodes of every role and as soon as they start.
 */
export async function startMetricsServer(options: {
  host: string;
  port: number;
  metrics: Metrics;
  isReady: () => Promise<string[]>;
}): Promise<MetricsServer> {
  const { registry } = options.metrics;
  const answers: Readonly<Record<string, () => Promise<Answer>>> = {
    '/metrics': async () => ({ status: 200, type: registry.contentType, body: await registry.metrics() }),
    '/healthz': async () => ({ status: 200, ...json, body: '{"status":"ok"}' }),
    '/readyz': async () => {
      const missing = await options.isReady();
      const status = missing.length === 0 ? 'ready' : `not ready: ${missing.join(', ')}`;
      return { status: missing.length === 0 ? 200 : 503, ...json, body: JSON.stringify({ status }) };
    },
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ''] ?? unknown;
    response.setHeader('x-content-type-options', 'nosniff');
    answer().then(
      ({ status, type, body }) => response.writeHead(status, type ? { 'content-type': type } : {}).end(body),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    // Kept after the start: a connection that cannot be accepted must not end the process.
    server.on('error', reject);
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
