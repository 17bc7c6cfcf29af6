import { Resolver } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import { callbackify } from 'node:util';
import { buildConnector } from 'undici';
import { bareHost, createAddressCheck, isLoopback } from './public-address.ts';

/**
 * Also used for a name without addresses: a different error would disclose which names exist in the operator's
 * network.
 */
export class AddressNotAllowed extends Error {
  constructor() {
    super('the host does not exist or is not on the public internet');
    this.name = 'AddressNotAllowed';
  }
}

export interface GuardOptions {
  readonly resolve: Resolve;
  readonly allowInsecure: boolean;
  readonly timeoutMs: number;
  /** For tests: which certificates to trust. */
  readonly ca?: string;
}

const addressesMax = 4;

/**
 * Opens connections to public addresses only. A name is resolved once, and every address of the answer must be public.
 * The connection then goes to one of these addresses as a literal, so no second lookup can lead elsewhere. TLS still
 * verifies the name.
 */
export function createGuardedConnector(options: GuardOptions): buildConnector.connector {
  const { resolve, allowInsecure, timeoutMs, ca } = options;
  const isAllowed = createAddressCheck({ allowLoopback: allowInsecure });
  const addressesOf = async (host: string): Promise<readonly string[]> => {
    const addresses = isIP(host) === 0 ? await resolve(host) : [host];
    if (addresses.length === 0 || !addresses.every(isAllowed)) throw new AddressNotAllowed();
    return addresses.slice(0, addressesMax);
  };
  const open = async ({ hostname, protocol, port }: buildConnector.Options): Promise<Socket> => {
    const host = bareHost(hostname);
    const addresses = await addressesOf(host);
    if (protocol !== 'https:' && !addresses.every(isLoopback)) throw new AddressNotAllowed();
    const connect = buildConnector({
      // The addresses share the time limit.
      timeout: timeoutMs / addresses.length,
      allowH2: false,
      maxCachedSessions: 0,
      ...(ca === undefined ? {} : { ca }),
    });
    // Without TLS, undici would resolve a server name.
    const servername = protocol === 'https:' && isIP(host) === 0 ? { servername: host } : {};
    const failures: Error[] = [];
    for (const address of addresses) {
      const [failure, socket] = await new Promise<Parameters<buildConnector.Callback>>((done) =>
        connect({ hostname: address, protocol, port, ...servername }, (...result) => done(result)),
      );
      if (failure === null) return socket;
      failures.push(failure);
    }
    throw new AggregateError(failures, 'no address of the host could be connected to');
  };
  const opened = callbackify(open);
  return (options, callback) => {
    opened(options, (error: Error | null, socket) =>
      error ? callback(error, null) : callback(null, socket),
    );
  };
}

/** Returns all addresses of a name, none if it does not exist. Throws if it cannot get all of them. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** The name does not exist, or has no addresses of this family. */
const noAddresses = new Set(['ENODATA', 'ENOTFOUND']);

/**
 * Queries the name servers directly. `dns.lookup` would also read /etc/hosts, which names internal hosts, and occupy
 * Node's four shared threads. If one address family cannot be resolved, the query fails.
 */
export function createResolve(nameServers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (nameServers !== undefined) resolver.setServers(nameServers);
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const failures: unknown[] = [];
    const addresses = answers.flatMap((answer) => {
      if (answer.status === 'fulfilled') return answer.value;
      failures.push(answer.reason);
      return [];
    });
    const serious = failures.find((failure) => !noAddresses.has(errorCodeOf(failure)));
    if (serious !== undefined) throw serious;
    return addresses;
  };
}

export function errorCodeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
