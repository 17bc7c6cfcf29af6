/** Shares of the same page differ in these. */
const trackingNames = new Set(
  (
    'fbclid gclid gclsrc dclid gbraid wbraid msclkid twclid ttclid yclid igshid igsh mc_cid mc_eid li_fat_id mkt_tok ' +
    '_hsenc _hsmi __twitter_impression ref ref_src ref_url referrer cmpid ncid smid s_cid spm amp outputtype'
  ).split(' '),
);
const isTracking = (name: string) => name.startsWith('utm_') || trackingNames.has(name);

/** Where the copy of a page is that others store: `/amp/s/` of a search engine, `/c/s/` of the cache. */
const ampCache = /^\/(?:amp|[cv])\/(?:s\/)?([^/]+\..+)$/;
const ampHosts = /(?:^|\.)(?:cdn\.ampproject\.org|google\.[a-z.]+)$/;

/**
 * The same text for all addresses of a page that differ only in protocol, `www.`, AMP, fragment, tracking parameters,
 * the order of parameters, or a trailing slash. Null for a home page: unrelated items share it.
 */
export function canonicalUrl(url: URL): string | null {
  const [, cached] = ampHosts.test(url.hostname) ? (ampCache.exec(url.pathname) ?? []) : [];
  const original = cached === undefined ? null : URL.parse(`https://${cached}${url.search}`);
  if (original) return canonicalUrl(original);
  const path = pathOf(url.pathname);
  const query = queryOf(url.searchParams);
  if (path === '' && query === '') return null;
  const port = url.port === '' ? '' : `:${url.port}`;
  return `${hostOf(url.hostname)}${port}/${path}${query}`;
}

function pathOf(pathname: string): string {
  const parts = pathname.split('/').filter((part) => part !== '' && part.toLowerCase() !== 'amp');
  return parts.join('/').replace(/\.amp(?=\.html?$|$)/, '');
}

/** Only where a host name is left. */
function hostOf(hostname: string): string {
  return hostname.replace(/\.$/, '').replace(/^(?:www\d?|m|mobile|amp)\.(?=[^.]+\.)/, '');
}

function queryOf(params: URLSearchParams): string {
  if (params.size === 0) return '';
  const kept = [...params].filter(([name]) => !isTracking(name.toLowerCase()));
  if (kept.length === 0) return '';
  const sorted = kept.toSorted(
    ([one, first], [other, second]) => compare(one, other) || compare(first, second),
  );
  return `?${new URLSearchParams(sorted).toString()}`;
}

const compare = (one: string, other: string) => (one < other ? -1 : Number(one > other));
