import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listenOnLoopback } from '@earshot/testkit';
import aws4 from 'aws4';

export interface StoredPut {
  readonly name: string;
  readonly body: Buffer;
}

/**
 * Not a storage: a server that accepts the requests that S3 accepts, and keeps the objects in memory. It verifies signatures with
 * another implementation than Earshot's, and the checksums.
 */
export async function startCheckedStorage(keys: {
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
}) {
  const objects = new Map<string, Buffer>();
  const puts: StoredPut[] = [];
  const refusals: string[] = [];
  let fail: ((name: string) => boolean) | null = null;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request);
    const name = decodeURIComponent(request.url ?? '').slice(1);
    puts.push({ name, body });
    const code = fail?.(name)
      ? 'InternalError'
      : problemOf(request.headers, body, { path: request.url ?? '', keys });
    if (code === null) {
      objects.set(name, body);
      response.writeHead(200).end();
      return;
    }
    refusals.push(code);
    response.writeHead(code === 'InternalError' ? 500 : 403, { 'content-type': 'application/xml' });
    response.end(
      `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${keys.secretAccessKey}</Message></Error>`,
    );
  };
  const server = createServer((request, response) => void answer(request, response));
  const port = await listenOnLoopback(server);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    objects,
    puts,
    refusals,
    /** Refuses these objects, after they have arrived. */
    failOn: (when: ((name: string) => boolean) | null) => void (fail = when),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function problemOf(
  headers: Headers,
  body: Buffer,
  { path, keys }: { path: string; keys: { accessKeyId: string; secretAccessKey: string; region: string } },
): string | null {
  const given = String(headers['authorization']);
  const [, accessKeyId = '', names = ''] = /Credential=([^/]+)\/.*SignedHeaders=([^,]+)/.exec(given) ?? [];
  if (accessKeyId !== keys.accessKeyId) return 'InvalidAccessKeyId';
  const signed = Object.fromEntries(names.split(';').map((name) => [name, String(headers[name])]));
  const required = ['host', 'content-md5', 'x-amz-content-sha256', 'x-amz-date'];
  if (!required.every((name) => name in signed)) return 'AccessDenied';
  // It takes the hash of the body from the headers.
  const expected = aws4.sign(
    { service: 's3', region: keys.region, method: 'PUT', path, headers: signed },
    keys,
  );
  if (expected.headers?.['Authorization'] !== given) return 'SignatureDoesNotMatch';
  const digest = (algorithm: string, encoding: 'hex' | 'base64') =>
    createHash(algorithm).update(body).digest(encoding);
  if (headers['x-amz-content-sha256'] !== digest('sha256', 'hex')) return 'XAmzContentSHA256Mismatch';
  if (headers['content-md5'] !== digest('md5', 'base64')) return 'BadDigest';
  return null;
}
