import type { Connection } from './connection.ts';
import { Failure } from './failure.ts';

export interface ConsoleLink {
  readonly url: string;
  readonly expires_at: string;
}

const timeoutMs = 10_000;

/** Requests a link that signs in to the console once. It is not an operation of the API, because only people need it. */
export async function createConsoleLink({ url, key }: Connection): Promise<ConsoleLink> {
  const response = await fetch(`${url}/console/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: unknown) => {
    throw new Failure('unavailable', `${url} does not answer. Check that the server runs.`, {
      cause: error,
    });
  });
  if (response.status === 401) throw new Failure('refused', 'The server does not accept the key.');
  if (response.status === 404)
    throw new Failure('notFound', `${url} has no console. Ask the operator to enable it.`);
  if (!response.ok)
    throw new Failure('failed', `The server answered ${response.status}: ${await response.text()}`);
  const link = (await response.json()) as ConsoleLink;
  // Uses the address that you typed: behind a proxy, the server may not know its public address.
  return { ...link, url: `${url}/${new URL(link.url).hash}` };
}
