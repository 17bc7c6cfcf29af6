import { Resolver } from 'node:dns/promises';

/** All addresses of a name. Throws when they cannot be had, or not all of them. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** The name is there, but not with addresses of this family. */
const noneOfThisKind = new Set(['ENODATA', 'ENOTFOUND']);

/**
 * Asks the name servers directly: `dns.lookup` would also read /etc/hosts, whose names are of the inside, and would
 * wait in the four threads that all of Node shares. When one family cannot be had, neither can the answer.
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
    const serious = failures.find((failure) => !noneOfThisKind.has(errorCodeOf(failure)));
    if (serious !== undefined) throw serious;
    if (addresses.length === 0) throw failures[0];
    return addresses;
  };
}

export function errorCodeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
