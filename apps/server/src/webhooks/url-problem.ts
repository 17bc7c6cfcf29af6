import { isIP } from 'node:net';
import type { UrlProblem } from './endpoint.ts';
import { bareHost, createAddressCheck, isLoopback } from './public-address.ts';

const ports = new Set(['', '443', '8443']);

/**
 * What can be said of a URL without asking anybody. The parser has brought every spelling of an IPv4 address
 * (decimal, hexadecimal, short, full-width) into its one form, so a literal is recognised here.
 */
export function createUrlProblem({ allowInsecure }: { readonly allowInsecure: boolean }): UrlProblem {
  const isAllowed = createAddressCheck({ allowLoopback: allowInsecure });
  return (text) => {
    const url = URL.parse(text);
    if (url === null) return 'Must be an absolute URL.';
    const host = bareHost(url.hostname);
    const isInsecureLoopback = allowInsecure && url.protocol === 'http:' && isLoopback(host);
    if (url.protocol !== 'https:' && !isInsecureLoopback) return 'Must begin with "https://".';
    if (url.username !== '' || url.password !== '') return 'Must not contain a user name or password.';
    if (!allowInsecure && !ports.has(url.port)) return 'Must use port 443 or 8443.';
    if (isIP(host) !== 0 && !isAllowed(host)) return 'Must be on the public internet.';
    return null;
  };
}
