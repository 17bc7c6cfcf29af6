import { createHash } from 'node:crypto';
import { Agent, request } from 'undici';
import {
  AddressNotAllowed,
  createGuardedConnector,
  errorCodeOf,
  type GuardOptions,
} from '../webhooks/guarded-connector.ts';
import { createUrlProblem } from '../webhooks/public-address.ts';
import { type Credentials, encodePath, signRequest } from './sign-v4.ts';

export interface Bucket extends Credentials {
  readonly endpoint: string;
  readonly bucket: string;
}

export interface StorageObject {
  readonly name: string;
  readonly type: string;
  readonly body: Uint8Array;
}

/** The object was not written, or it is unknown whether it was. The message is for the owner: without addresses and secrets. */
export class StorageFailed extends Error {
  override readonly name = 'StorageFailed';
}

export type StorageOptions = Omit<GuardOptions, 'timeoutMs'> & { readonly timeoutMs?: number };

/** Less than the lease of an archive. */
const answerWithinMs = 60_000;
const answerBytesMax = 16 * 1024;

export type Storage = ReturnType<typeof createStorage>;

/** Writes objects to S3-compatible storages on the public internet. */
export function createStorage(options: StorageOptions) {
  const { allowInsecure, timeoutMs = answerWithinMs } = options;
  const urlProblem = createUrlProblem({ allowInsecure });
  const agent = new Agent({
    connect: createGuardedConnector({ ...options, timeoutMs: Math.min(timeoutMs, 15_000) }),
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: 4_000,
  });
  return {
    /** An existing object is replaced. Redirects are not followed. */
    put: async (bucket: Bucket, { name, type, body }: StorageObject, now: Date): Promise<void> => {
      const problem = urlProblem(bucket.endpoint);
      if (problem !== null) throw new StorageFailed(`The endpoint is not allowed. ${problem}`);
      const url = new URL(`${bucket.endpoint}/${bucket.bucket}/${encodePath(name)}`);
      const md5 = createHash('md5').update(body).digest('base64');
      const headers = { 'content-type': type, 'content-md5': md5 };
      const signed = signRequest({ method: 'PUT', url, headers, body }, bucket, now);
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        const answer = await request(url, {
          method: 'PUT',
          headers: signed,
          body,
          dispatcher: agent,
          signal,
        });
        const text = await firstText(answer.body);
        if (answer.statusCode < 200 || answer.statusCode >= 300)
          throw new StorageFailed(`The storage answered ${answer.statusCode}${codeIn(text)}.`);
      } catch (error) {
        throw error instanceof StorageFailed
          ? error
          : new StorageFailed(wordsOf(error, signal), { cause: error });
      }
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

async function firstText(body: AsyncIterable<Uint8Array> & { destroy(): unknown }): Promise<string> {
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    read.push(chunk);
    bytes += chunk.length;
    if (bytes > answerBytesMax) body.destroy();
  }
  return Buffer.concat(read).toString();
}

/** The code of an error of S3, such as `SignatureDoesNotMatch`. */
function codeIn(xml: string): string {
  const [, code] = /<Code>([A-Za-z0-9]{1,60})<\/Code>/.exec(xml) ?? [];
  return code === undefined ? '' : ` (${code})`;
}

function wordsOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'The storage did not answer in time.';
  if (error instanceof AddressNotAllowed) return `The endpoint is not allowed: ${error.message}.`;
  const code = errorCodeOf(error instanceof AggregateError ? error.errors[0] : error);
  return /^[A-Z][A-Z0-9_]{2,60}$/.test(code)
    ? `The connection to the storage failed (${code}).`
    : 'The connection to the storage failed.';
}
