import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { pageHeaders } from './console-files.ts';

/** Scalar renders the OpenAPI document in the browser. The build copies this file next to the server. */
const rendererFile = new URL(
  '../../node_modules/@scalar/api-reference/dist/browser/standalone.js',
  import.meta.url,
);

/** Scalar creates style elements and attributes without a nonce. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Without these settings, Scalar loads fonts from its own host and offers services that call it. */
const settings = {
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  hideTestRequestButton: true,
  documentDownloadType: 'direct',
  showOperationId: true,
  defaultOpenAllTags: true,
  orderSchemaPropertiesBy: 'preserve',
};

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Earshot API reference</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>This page needs JavaScript. <a href="/llms.txt">/llms.txt</a> lists all operations, and <a href="/openapi.json">/openapi.json</a> describes them.</noscript>
<script id="api-reference" data-url="/openapi.json" data-configuration='${JSON.stringify(settings)}'></script>
<script src="/docs/scalar.js"></script>
</body>
</html>
`;

/** Serves the API reference at `/docs`. */
export function addReferencePage(app: FastifyInstance): void {
  let loading: ReturnType<typeof loadRenderer> | null = null;
  app.get('/docs', async (_request, reply) =>
    reply
      .headers({
        ...pageHeaders,
        'content-security-policy': policy,
        'cross-origin-opener-policy': 'same-origin',
      })
      .send(page),
  );
  app.get('/docs/scalar.js', async (request, reply) => {
    loading ??= loadRenderer().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    const { etag, zipped } = await loading;
    reply.headers({
      'content-type': 'text/javascript; charset=utf-8',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'public, no-cache',
      vary: 'accept-encoding',
      etag,
    });
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
    if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return createReadStream(rendererFile);
    return reply.header('content-encoding', 'gzip').send(zipped);
  });
}

async function loadRenderer() {
  const script = await readFile(rendererFile);
  const hash = createHash('sha256').update(script).digest('base64url');
  // The tag is weak because it stands for both encodings.
  return { etag: `W/"${hash}"`, zipped: await promisify(gzip)(script) };
}
