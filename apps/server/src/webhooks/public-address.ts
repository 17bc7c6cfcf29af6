import { BlockList, isIP } from 'node:net';

/** IPv4 addresses outside the public internet: IANA's special-purpose registry, and one cloud address. */
const notPublicV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Azure's virtual public IP, reachable inside every virtual network; it is not in the registry.
  '168.63.129.16/32',
];
/** All publicly routed IPv6 addresses are in this range; embedded IPv4 (::/96, ::ffff:0:0/96, NAT64) is not. */
const globalV6 = ['2000::/3'];
/** Protocols (Teredo, ORCHID, benchmarks), documentation, 6to4, AS112, documentation again. */
const notPublicV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];
const loopbacks = ['127.0.0.0/8', '::1/128'];

/** Whether an address, as the socket or the resolver writes it, is on the public internet. */
export function createAddressCheck(options: {
  readonly allowLoopback: boolean;
}): (address: string) => boolean {
  const denied = blockListOf([...notPublicV4, ...notPublicV6]);
  const global = blockListOf(globalV6);
  return (address) => {
    switch (isIP(address)) {
      case 4:
        return (options.allowLoopback && isLoopback(address)) || !denied.check(address, 'ipv4');
      case 6:
        // An address with a zone is link-local.
        if (address.includes('%')) return false;
        if (options.allowLoopback && isLoopback(address)) return true;
        return global.check(address, 'ipv6') && !denied.check(address, 'ipv6');
      default:
        return false;
    }
  };
}

const loopback = blockListOf(loopbacks);

export function isLoopback(address: string): boolean {
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return false;
  // An IPv4-mapped IPv6 address does not count as loopback, because it is not needed.
  return version === 4 ? loopback.check(address, 'ipv4') : address === '::1';
}

/** Removes the brackets of an IPv6 literal. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits = ''] = range.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

const allowedPorts = new Set(['', '443', '8443']);

export type UrlProblem = ReturnType<typeof createUrlProblem>;

/**
 * Returns why a URL is not allowed for a webhook, as far as the URL itself shows; null if it is allowed. The parser
 * has normalised all spellings of an IPv4 address (decimal, hexadecimal, short, full-width).
 */
export function createUrlProblem({ allowInsecure }: { readonly allowInsecure: boolean }) {
  const isAllowed = createAddressCheck({ allowLoopback: allowInsecure });
  return (text: string): string | null => {
    const url = URL.parse(text);
    if (url === null) return 'Must be an absolute URL.';
    const host = bareHost(url.hostname);
    const isInsecureLoopback = allowInsecure && url.protocol === 'http:' && isLoopback(host);
    if (url.protocol !== 'https:' && !isInsecureLoopback) return 'Must begin with "https://".';
    if (url.username !== '' || url.password !== '') return 'Must not contain a user name or password.';
    if (!allowInsecure && !allowedPorts.has(url.port)) return 'Must use port 443 or 8443.';
    if (isIP(host) !== 0 && !isAllowed(host)) return 'Must be on the public internet.';
    return null;
  };
}
