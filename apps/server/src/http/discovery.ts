import { openApiDocument } from '@earshot/contract';
import type { FastifyInstance } from 'fastify';
import { renderReferencePage } from './reference-page.ts';

/** What can be asked without a key: health, and the description of the interface. */
export function addDiscovery(app: FastifyInstance, { isReady }: { isReady: () => Promise<string[]> }): void {
  const document = openApiDocument({});
  const page = renderReferencePage(document);
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const missing = await isReady();
    return reply.code(missing.length === 0 ? 200 : 503).send({ ready: missing.length === 0, missing });
  });
  app.get('/openapi.json', async () => document);
  app.get('/docs', async (_request, reply) =>
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
      .send(page),
  );
}
