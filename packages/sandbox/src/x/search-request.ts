import { searchability } from '@earshot/query';
import type { Clock } from '../clock.ts';
import type { Exchange } from '../http/exchange.ts';
import type { XApp } from './app.ts';
import type { XPost } from './post.ts';
import { compileSearch } from './search-query.ts';

/** What an index of search takes; counts are made from the same indexes. */
export interface SearchReach {
  readonly reachesBackMs: number;
  readonly queryLengthMax: number;
  /** Of a request without `start_time`, back from its end. Default: as far as it reaches. */
  readonly defaultSpanMs?: number;
}

/** Younger posts are not in the index yet. */
const indexDelayMs = 10_000;

export function readWindow(
  { reachesBackMs, defaultSpanMs }: SearchReach,
  app: XApp,
  query: Exchange['query'],
  clock: Clock,
): { fromMs: number; toMs: number } {
  const nowMs = clock.nowMs();
  const latestMs = nowMs - clock.realMs(indexDelayMs);
  const time = (name: string, otherwise: number) => {
    const given = query.get(name);
    if (given === null) return otherwise;
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(given))
      throw app.problems.invalidParameter(name, given);
    return Date.parse(given);
  };
  const toMs = time('end_time', latestMs);
  const fromMs = time(
    'start_time',
    defaultSpanMs === undefined ? nowMs - reachesBackMs : toMs - defaultSpanMs,
  );
  if (fromMs < nowMs - reachesBackMs - 1_000)
    throw app.problems.invalidParameter('start_time', query.get('start_time'));
  if (toMs > latestMs || toMs <= fromMs)
    throw app.problems.invalidParameter('end_time', query.get('end_time'));
  return { fromMs, toMs };
}

export function readQuery(
  { queryLengthMax }: SearchReach,
  app: XApp,
  query: Exchange['query'],
): (post: XPost) => boolean {
  const value = query.get('query') ?? '';
  const matches = searchability(value, queryLengthMax).searchable ? compileSearch(value) : undefined;
  if (matches === undefined) throw app.problems.invalidParameter('query', value);
  return matches;
}
