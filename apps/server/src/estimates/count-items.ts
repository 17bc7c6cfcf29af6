import type { Platform } from '@earshot/contract';
import { limitOf, ofPlan } from '../accounts/plans.ts';
import { recordCall } from '../billing/meter.sql.ts';
import { type Prices, priceOf } from '../billing/prices.ts';
import type { Database } from '../engines/database.ts';
import { isReceiving, sourceState } from '../slots/receiving.sql.ts';
import type { RuleValue } from '../slots/slot-holding.sql.ts';
import type { Countability, ItemCounts } from '../upstream/platform.ts';
import { UpstreamUnavailable } from '../upstream/upstream-rules.ts';
import { type HourlySeries, volumeOf } from './estimate.ts';
import type { Basis } from './estimate-volume.ts';
import { findCounts, keepCounts } from './platform-counts.sql.ts';

/** The part of the installation's budget that matters here: while it is reached, nothing is requested. */
export interface SpendingCap {
  read(): Promise<{ readonly reached: object | null }>;
}

export interface CountItemsOptions {
  readonly database: Database;
  /** Per platform that has counts: one entry for each credential of this node. */
  readonly counts: Readonly<Partial<Record<Platform, readonly ItemCounts[]>>>;
  readonly prices: Prices;
  /** Null if the operator has set no cap. */
  readonly installationBudget: SpendingCap | null;
}

/** The reason why there is no estimate by counts; null if the platform has no counts. */
export interface NotCounted {
  readonly notCounted: string | null;
}

type Countable = Extract<Countability, { countable: true }>;
interface CountQuery {
  readonly accountId: string;
  readonly value: RuleValue;
  readonly nowMs: number;
}

const weekMs = 7 * 86_400_000;
const answerWithinMs = 5_000;

/** An estimate by the platform's own counts of the last week. Requested at most once an hour, and only while its source works. */
export async function countItems(options: CountItemsOptions, query: CountQuery): Promise<Basis | NotCounted> {
  const { platform, translatedValue } = query.value;
  const counters = options.counts[platform];
  if (counters === undefined) return { notCounted: null };
  const [any] = counters;
  if (any === undefined) return { notCounted: 'this node has no credential for the platform' };
  const countable = any.countabilityOf(translatedValue);
  if (!countable.countable) return { notCounted: countable.because };
  const kept = await findCounts(options.database, query);
  if (kept) return toBasis(countable, { series: kept, feeUsd: 0 });
  const live = await findLive(options, counters);
  if ('notCounted' in live) return live;
  const perDay = await countsPerDay(options.database, query.accountId);
  if (!(await mayRequest(options.database, query.accountId, perDay)))
    return { notCounted: `this account requested its counts ${perDay} times today, which is the maximum` };
  return await requestCounts(options, { ...query, countable, counter: live.counter });
}

async function findLive(
  { database, installationBudget }: CountItemsOptions,
  counters: readonly ItemCounts[],
): Promise<{ counter: ItemCounts } | NotCounted> {
  if ((await installationBudget?.read())?.reached) return { notCounted: "the operator's budget is spent" };
  const rows = await database.many<{ id: string; state: string; well: boolean }>(
    `select id, ${sourceState} as state, ${isReceiving} or state = 'no_rules' as well
     from sources where id = any($1) order by id`,
    [counters.map(({ sourceId }) => sourceId)],
  );
  const well = rows.find((row) => row.well);
  const counter = counters.find(({ sourceId }) => sourceId === well?.id);
  return counter ? { counter } : { notCounted: `its source is not live (${rows[0]?.state ?? 'unknown'})` };
}

/** The account's limit of calls per day. */
async function countsPerDay(database: Database, accountId: string): Promise<number> {
  const row = await database.one<{ counts: number }>(
    `select ${limitOf('counts')} as counts from accounts join ${ofPlan} where accounts.id = $1`,
    [accountId],
  );
  return row?.counts ?? 0;
}

/** Counts the call before it is made, so that concurrent requests are counted too. */
async function mayRequest(database: Database, accountId: string, perDay: number): Promise<boolean> {
  if (perDay === 0) return false;
  return await database.forAccount(accountId).transaction(async (sql) => {
    const counted = await sql.run(
      `insert into counts_calls as made (account_id, day, calls) values ($1, (now() at time zone 'UTC')::date, 1)
       on conflict (account_id, day) do update set calls = made.calls + 1 where made.calls < $2`,
      [accountId, perDay],
    );
    return counted > 0;
  });
}

async function requestCounts(
  options: CountItemsOptions,
  query: CountQuery & { countable: Countable; counter: ItemCounts },
): Promise<Basis | NotCounted> {
  const { value, nowMs, countable, counter } = query;
  const span = { fromMs: nowMs - weekMs, toMs: nowMs };
  try {
    const counted = await counter.count(countable, span, AbortSignal.timeout(answerWithinMs));
    if (counted.kind === 'refused') return { notCounted: 'the platform refuses to count this query' };
    await recordCall(options.database, counter.sourceId, countable.kind);
    const series = { fromMs: counted.fromMs, counts: counted.counts };
    await keepCounts(options.database, query, series);
    const feeUsd = priceOf(options.prices, value.platform, countable.kind);
    return toBasis(countable, { series, feeUsd });
  } catch (error) {
    if (error instanceof UpstreamUnavailable) return { notCounted: 'the platform does not answer' };
    throw error;
  }
}

/** The counts are a bound if they leave something out, or include something else. */
function toBasis(
  { share, dropped, misses }: Countable,
  { series, feeUsd }: { series: HourlySeries; feeUsd: number },
): Basis {
  const isLess = misses.length > 0;
  const isMore = dropped.length > 0;
  const notes = [
    'From the platform’s counts of the last 7 days.',
    ...(isLess ? [`Counts leave out ${misses.join(' and ')}: more will come than is counted.`] : []),
    ...(isMore ? [`Counts do not know ${dropped.join(', ')}: less will come than is counted.`] : []),
  ];
  return {
    basis: 'counts',
    bound: isLess === isMore ? null : isMore ? 'at_most' : 'at_least',
    note: notes.join(' '),
    volume: volumeOf({ fromMs: series.fromMs, counts: series.counts.map((count) => count * share) }),
    feeUsd,
  };
}
