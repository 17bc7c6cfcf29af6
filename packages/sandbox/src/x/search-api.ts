import type { Deps } from '../deps.ts';
import { type Exchange, sendJson } from '../http/exchange.ts';
import { isJsonObject, type JsonObject } from '../http/json.ts';
import { admit } from './access.ts';
import type { XApp, XLimit } from './app.ts';
import { inPostNames } from './dialects.ts';
import type { XPost } from './post.ts';
import { type Projection, project, readProjection } from './projection.ts';
import { readQuery, readWindow, type SearchReach } from './search-request.ts';

const searchParameters = ['query', 'start_time', 'end_time', 'max_results', 'next_token'];

interface SearchIndex extends SearchReach {
  readonly limit: Extract<XLimit, 'search' | 'searchAll'>;
  readonly pageSizeMax: number;
}

const recent: SearchIndex = {
  limit: 'search',
  reachesBackMs: 7 * 24 * 3_600_000,
  queryLengthMax: 512,
  pageSizeMax: 100,
};
const all: SearchIndex = {
  limit: 'searchAll',
  reachesBackMs: 20 * 365 * 24 * 3_600_000,
  queryLengthMax: 1_024,
  pageSizeMax: 500,
};

/** GET /2/tweets/search/recent */
export const searchRecent = (exchange: Exchange, deps: Deps) => search(recent, exchange, deps);
/** GET /2/tweets/search/all */
export const searchAll = (exchange: Exchange, deps: Deps) => search(all, exchange, deps);

/** Newest first, in pages. Every returned post is metered, with what comes along. */
function search(index: SearchIndex, exchange: Exchange, { apps, archive, clock }: Deps): void {
  const app = admit(exchange, apps, index.limit);
  const dialect = app.knobs.searchDialect;
  const otherParameters = searchParameters;
  const projection = readProjection(exchange.query, app.problems, { dialect, otherParameters });
  const { fromMs, toMs } = readWindow(index, app, exchange.query, clock);
  const matches = readQuery(index, app, exchange.query);
  const below = readToken(app, exchange.query);
  const found = archive
    .between(fromMs, toMs)
    .filter((post) => (below === undefined || BigInt(post.id) < below) && matches(post))
    .toSorted((one, other) => (BigInt(one.id) < BigInt(other.id) ? 1 : -1));
  const size = readSize(index, app, exchange.query);
  const page = found.slice(0, size);
  const answer = toAnswer(page, projection, found.length > size);
  app.meter.count(clock.nowMs(), answer);
  sendJson(exchange.response, 200, dialect === 'post' ? inPostNames(answer) : answer);
}

function readSize({ pageSizeMax }: SearchIndex, app: XApp, query: Exchange['query']): number {
  const size = Number(query.get('max_results') ?? 10);
  if (!Number.isInteger(size) || size < 10 || size > pageSizeMax)
    throw app.problems.invalidParameter('max_results', query.get('max_results'));
  return size;
}

function readToken(app: XApp, query: Exchange['query']): bigint | undefined {
  const token = query.get('next_token');
  if (token === null) return undefined;
  if (!/^b26v[0-9]{1,19}$/.test(token)) throw app.problems.invalidParameter('next_token', token);
  return BigInt(token.slice(4));
}

function toAnswer(page: readonly XPost[], projection: Projection, more: boolean): JsonObject {
  const records = page.map((post) => project(post, [], projection));
  const last = page.at(-1);
  const meta = {
    ...(page[0] && { newest_id: page[0].id }),
    ...(last && { oldest_id: last.id }),
    result_count: page.length,
    ...(more && last && { next_token: `b26v${last.id}` }),
  };
  if (page.length === 0) return { meta };
  const includes = mergeIncludes(records.map((record) => record['includes']));
  return {
    data: records.map((record) => record['data']),
    ...(Object.keys(includes).length > 0 && { includes }),
    meta,
  };
}

/** Merges the includes of all posts of a page, without duplicates. */
function mergeIncludes(all: readonly unknown[]): JsonObject {
  const merged = new Map<string, Map<unknown, unknown>>();
  for (const includes of all) {
    for (const [kind, list] of Object.entries(isJsonObject(includes) ? includes : {})) {
      const known = merged.get(kind) ?? new Map<unknown, unknown>();
      merged.set(kind, known);
      for (const one of Array.isArray(list) ? list.filter(isJsonObject) : [])
        known.set(one['id'] ?? one['media_key'], one);
    }
  }
  return Object.fromEntries([...merged].map(([kind, known]) => [kind, [...known.values()]]));
}
