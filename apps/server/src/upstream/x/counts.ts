import { countsQuery } from '@earshot/query';
import { z } from 'zod';
import type { UpstreamClient } from '../client.ts';
import type { Countability, CountedHours, ItemCounts } from '../platform.ts';
import { UpstreamUnavailable } from '../upstream-rules.ts';
import { problemOf, wordsAfterColon, wordsOf } from './ending.ts';
import { inStreamNames, wholeSeconds } from './fields.ts';

const hourMs = 3_600_000;
const reachesBackMs = 7 * 24 * hourMs;
/** Newer posts are not counted yet. */
const indexDelayMs = 30_000;

const indexes = [
  { kind: 'counts_recent', path: '/2/tweets/counts/recent', queryLengthMax: 512 },
  { kind: 'counts_all', path: '/2/tweets/counts/all', queryLengthMax: 1_024 },
] as const;

const answerSchema = z.looseObject({
  data: z
    .array(z.looseObject({ start: z.iso.datetime(), end: z.iso.datetime(), tweet_count: z.int().min(0) }))
    .max(1_000)
    .default([]),
});

/** Hourly counts of the last seven days, from the search index. Every call is billed. */
export function createXCounts(client: UpstreamClient, sourceId: string): ItemCounts {
  return {
    sourceId,
    countabilityOf,
    async count({ query, kind }, span, signal): Promise<CountedHours> {
      const latest = Date.now() - indexDelayMs;
      const from = new Date(Math.max(span.fromMs, latest - reachesBackMs + 2 * indexDelayMs));
      const to = new Date(Math.min(span.toMs, latest));
      const path = indexes.find((index) => index.kind === kind)?.path ?? indexes[0].path;
      const parameters = new URLSearchParams({ query, granularity: 'hour', ...wholeSeconds(from, to) });
      const { status, body, retryAfterMs } = await client.call('GET', `${path}?${parameters.toString()}`, {
        signal,
      });
      const problem = problemOf(body);
      if (status === 400) return { kind: 'refused', words: wordsOf(problem) };
      const answer = answerSchema.safeParse(inStreamNames(body));
      if (status !== 200 || !answer.success)
        throw new UpstreamUnavailable(`X answered ${status} to counts${wordsAfterColon(problem)}`, {
          retryAfterMs,
        });
      return { kind: 'counted', ...wholeHours(answer.data.data) };
    },
  };
}

function countabilityOf(value: string): Countability {
  const found = countsQuery(value);
  if (!found.countable) return { countable: false, because: found.why };
  const { query, share, dropped, missesReposts, missesQuotes } = found;
  const index = indexes.find(({ queryLengthMax }) => query.length <= queryLengthMax);
  if (index === undefined) return { countable: false, because: 'the query is too long for counts' };
  const misses = [...(missesReposts ? ['reposts'] : []), ...(missesQuotes ? ['quoted text'] : [])];
  return { countable: true, query, kind: index.kind, share, dropped, misses };
}

/** The first and last bucket are cut off by the window, so they are left out. */
function wholeHours(buckets: z.output<typeof answerSchema>['data']): { fromMs: number; counts: number[] } {
  const whole = buckets.filter(({ start, end }) => Date.parse(end) - Date.parse(start) === hourMs);
  return {
    fromMs: Date.parse(whole[0]?.start ?? new Date(0).toISOString()),
    counts: whole.map((bucket) => bucket.tweet_count),
  };
}
