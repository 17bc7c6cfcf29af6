import type { Connection } from './connection.ts';
import { Failure } from './failure.ts';

export interface ConsoleLink {
  readonly url: string;
  readonly expires_at: string;
}

const timeoutMs = 10_000;

/** A link that signs in to the console once. Not an operation of the API: only people are of use to it. */
export async function createConsoleLink({ url, key }: Connection): Promise<ConsoleLink> {
  const response = await fetch(`${url}/console/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: unknown) => {
    throw new Failure('unavailable', `There is no answer from ${url}: is the server running?`, {
      cause: error,
    });
  });
  if (response.status === 401) throw new Failure('refused', 'The server does not accept the key.');
  if (response.status === 404)
    throw new Failure('notFound', `${url} has no console: it is switched off there.`);
  if (!response.ok)
    throw new Failure('failed', `The server answered ${response.status}: ${await response.text()}`);
  const link = (await response.json()) as ConsoleLink;
  // By the address that was typed here: behind a proxy the server may not know its own.
  return { ...link, url: `${url}/${new URL(link.url).hash}` };
}
