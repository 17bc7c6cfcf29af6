import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { callbackify } from 'node:util';
import { buildConnector } from 'undici';
import { bareHost, createAddressCheck, isLoopback } from './public-address.ts';

/** The same for a name without addresses: told apart, they would say which names exist in the operator's network. */
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
 * Opens connections to public addresses only. A name is resolved once: every address must be public, and the connection
 * goes to one of exactly those, so that a second, different answer of the name server has no effect. Node calls no
 * lookup function for an IP literal, so literals are checked before. The peer is checked once more when the connection
 * is open, before anything is sent.
 */
export function createGuardedConnector(options: GuardOptions): buildConnector.connector {
  const { resolve, allowInsecure, timeoutMs, ca } = options;
  const isAllowed = createAddressCheck({ allowLoopback: allowInsecure });
  const addressesOf = async (host: string): Promise<readonly string[]> => {
    const addresses = isIP(host) === 0 ? await resolve(host) : [host];
    if (addresses.length === 0 || !addresses.every(isAllowed)) throw new AddressNotAllowed();
    return addresses.slice(0, addressesMax);
  };
  const open = async (asked: buildConnector.Options): Promise<Socket> => {
    const host = bareHost(asked.hostname);
    const addresses = await addressesOf(host);
    if (asked.protocol !== 'https:' && !addresses.every(isLoopback)) throw new AddressNotAllowed();
    const connect = buildConnector({
      timeout: timeoutMs,
      allowH2: false,
      maxCachedSessions: 0,
      lookup: pinnedTo(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: 2_000,
      ...(ca === undefined ? {} : { ca }),
    });
    const socket = await new Promise<Socket>((resolveSocket, reject) => {
      connect({ ...asked, hostname: host }, (...[error, connected]) =>
        error === null ? resolveSocket(connected) : reject(error),
      );
    });
    if (isPeer(socket.remoteAddress, addresses)) return socket;
    socket.destroy();
    throw new AddressNotAllowed();
  };
  const opened = callbackify(open);
  return (asked, callback) => {
    opened(asked, (error: Error | null, socket) => (error ? callback(error, null) : callback(null, socket)));
  };
}

function pinnedTo(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all: wantsAll }, callback) => {
    const [first] = all;
    if (wantsAll || first === undefined) callback(null, all);
    else callback(null, first.address, first.family);
  };
}

export function isPeer(peer: string | undefined, addresses: readonly string[]): boolean {
  return peer !== undefined && addresses.some((address) => sameAddress(address, peer));
}

/** The resolver and the socket may spell the same IPv6 address differently. */
function sameAddress(one: string, other: string): boolean {
  if (one === other) return true;
  if (isIP(one) !== 6 || isIP(other) !== 6) return false;
  return URL.parse(`http://[${one}]`)?.hostname === URL.parse(`http://[${other}]`)?.hostname;
}

/** All addresses of a name, none when it does not exist. Throws when it cannot get all of them. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** The name does not exist, or has no addresses of this family. */
const noAddresses = new Set(['ENODATA', 'ENOTFOUND']);

/**
 * Asks the name servers directly: `dns.lookup` would also read /etc/hosts, which names internal hosts, and would occupy
 * the four threads that all of Node shares. When one address family cannot be resolved, the whole answer fails.
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
