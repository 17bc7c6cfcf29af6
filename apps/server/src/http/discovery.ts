import { openApiDocument } from '@earshot/contract';
import { rulesFileJsonSchema } from '@earshot/contract/rules-file';
import type { FastifyInstance } from 'fastify';
import { Failure } from '../runtime/failure.ts';
import { llmsText } from './llms-text.ts';
import { renderReferencePage } from './reference-page.ts';

/** What can be asked without a key: health, and the description of the interface. */
export function addDiscovery(app: FastifyInstance, { isReady }: { isReady: () => Promise<string[]> }): void {
  const document = openApiDocument({});
  const page = renderReferencePage(document);
  const rulesSchema = rulesFileJsonSchema();
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    const missing = await isReady();
    if (missing.length === 0) return { status: 'ready' };
    throw new Failure('unavailable', `Not ready: ${missing.join(', ')}.`, { retryAfterSeconds: 1 });
  });
  app.get('/openapi.json', async () => document);
  app.get('/rules.schema.json', async () => rulesSchema);
  app.get('/llms.txt', async (_request, reply) =>
    reply
      .header('content-type', 'text/plain; charset=utf-8')
      .send(llmsText({ hasMcp: app.hasRoute({ method: 'POST', url: '/mcp' }) })),
  );
  app.get('/docs', async (_request, reply) =>
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
      .send(page),
  );
}
