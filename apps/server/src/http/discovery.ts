import { openApiDocument } from '@earshot/contract';
import type { FastifyInstance } from 'fastify';
import { Failure } from '../runtime/failure.ts';
import { renderReferencePage } from './reference-page.ts';

/** What can be asked without a key: health, and the description of the interface. */
export function addDiscovery(app: FastifyInstance, { isReady }: { isReady: () => Promise<string[]> }): void {
  const document = openApiDocument({});
  const page = renderReferencePage(document);
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    const missing = await isReady();
    if (missing.length === 0) return { status: 'ready' };
    throw new Failure('unavailable', `Not ready: ${missing.join(', ')}.`, { retryAfterSeconds: 1 });
  });
  app.get('/openapi.json', async () => document);
  app.get('/docs', async (_request, reply) =>
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
      .send(page),
  );
}
