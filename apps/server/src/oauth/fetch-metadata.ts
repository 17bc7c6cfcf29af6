import { Agent, request } from 'undici';
import { createGuardedConnector, type GuardOptions } from '../webhooks/guarded-connector.ts';
import { createUrlProblem } from '../webhooks/public-address.ts';

const documentWithinMs = 5_000;
const bytesMax = 16 * 1024;

export type FetchMetadata = ReturnType<typeof createFetchMetadata>;

/**
 * Fetches a document from an untrusted URL: from the public internet only, without following redirects, and with limits of time and
 * size. Throws if it cannot be fetched.
 */
export function createFetchMetadata({
  withinMs = documentWithinMs,
  ...options
}: Omit<GuardOptions, 'timeoutMs'> & {
  /** For the whole fetch, from the lookup of the name to the last byte. */
  readonly withinMs?: number;
}) {
  const urlProblem = createUrlProblem(options);
  const agent = new Agent({
    connect: createGuardedConnector({ ...options, timeoutMs: withinMs }),
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: 1,
  });
  return {
    async fetch(url: string): Promise<Response> {
      const problem = urlProblem(url);
      if (problem !== null) throw new Error(`URL: ${problem}`);
      const { statusCode, headers, body } = await request(url, {
        dispatcher: agent,
        headers: { accept: 'application/json', 'user-agent': 'earshot/0.1 (+oauth)' },
        signal: AbortSignal.timeout(withinMs),
      });
      // An abandoned body emits an error event, which without a listener ends the process.
      body.on('error', () => undefined);
      if (statusCode !== 200) {
        body.destroy();
        return new Response(null, { status: statusCode >= 200 ? statusCode : 502 });
      }
      const cacheControl = String(headers['cache-control'] ?? '');
      return new Response(await readBounded(body), { headers: { 'cache-control': cacheControl } });
    },
    async [Symbol.asyncDispose]() {
      await agent.destroy();
    },
  };
}

async function readBounded(
  body: AsyncIterable<Buffer> & { destroy(): unknown },
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let read = 0;
  for await (const chunk of body) {
    read += chunk.length;
    if (read > bytesMax) {
      body.destroy();
      throw new Error(`the document is larger than ${bytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
