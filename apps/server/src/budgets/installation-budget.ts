import type { Platform } from '@earshot/contract';
import { type Prices, priceOf } from '../billing/prices.ts';
import { periodAt, recentMs } from '../billing/spending.ts';
import type { Sql } from '../engines/database.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { BilledKind } from '../upstream/platform.ts';
import { platforms } from '../upstream/platforms.ts';

/*
 * The operator's cap on what all sources together may be billed per UTC day and month. Counted from `source_usage` at the highest
 * reading: a cap must hold whichever reading is right.
 */

export interface Caps {
  readonly day: number | null;
  readonly month: number | null;
}

const periods = ['day', 'month'] as const;

/** In US dollars. */
export interface Bills {
  readonly day: number;
  readonly month: number;
  /** The estimated cost of what arrives until a stop is applied, at the rate of the last minute. */
  readonly atRisk: number;
  /** The highest possible cost of events in the event log that are not counted yet. */
  readonly uncounted: number;
}

export interface Allowance {
  /** What may still be billed; below 0 if the cap was exceeded. */
  readonly remainingUsd: number;
  /** Null unless a cap is reached. `isSure`: the counted bill reaches it; otherwise only with uncounted events. */
  readonly reached: { readonly resetsAt: Date; readonly isSure: boolean } | null;
}

/** Computes what the caps leave. Pure. */
export function allowanceOf(caps: Caps, bills: Bills, now: Date): Allowance {
  let remainingUsd = Number.POSITIVE_INFINITY;
  let reached: Allowance['reached'] = null;
  for (const period of periods) {
    const cap = caps[period];
    const { end } = periodAt(period, now);
    if (cap === null || end === null) continue;
    const expected = bills[period] + bills.atRisk;
    remainingUsd = Math.min(remainingUsd, cap - bills[period] - bills.uncounted);
    if (expected + bills.uncounted < cap) continue;
    const isSure = expected >= cap;
    // Prefer sure periods. Among them the later end wins: a month ends after its days.
    if (reached === null || isSure || !reached.isSure) reached = { resetsAt: end, isSure };
  }
  return { remainingUsd, reached };
}

/** The bill of each source in this month, at a moment. */
export interface BillSample {
  readonly atMs: number;
  readonly usd: ReadonlyMap<string, number>;
}

/** A rate over a shorter time would be chance. */
const rateFromMs = 10_000;

/** What the sources may still be billed after a stop: each at its recent rate, for as long as its platform needs to stop. */
export function atRiskOf(samples: readonly BillSample[]): number {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last) return 0;
  const elapsedMs = Math.max(rateFromMs, last.atMs - first.atMs);
  let usd = 0;
  for (const [sourceId, now] of last.usd) {
    const platform = platformOf(sourceId);
    const grown = Math.max(0, now - (first.usd.get(sourceId) ?? 0));
    if (platform) usd += (grown / elapsedMs) * platforms[platform].stopsWithinMs;
  }
  return usd;
}

function platformOf(sourceId: string): Platform | null {
  const [name = ''] = sourceId.split(':', 1);
  return isPlatform(name) ? name : null;
}

/** A source may belong to a platform that this version no longer has. */
function isPlatform(name: string): name is Platform {
  return Object.hasOwn(platforms, name);
}

export interface InstallationBudgetOptions {
  readonly database: Sql;
  readonly prices: Prices;
  readonly caps: Caps;
  readonly metrics: Metrics;
  /** The number of events in the event log that are not counted yet. */
  readonly uncounted: () => Promise<number>;
  /** The highest possible cost of one of them. */
  readonly itemUsdMax: number;
  readonly now: () => Date;
}

export interface InstallationBudget {
  read(): Promise<Allowance>;
}

/** One per node. Null if the operator has set no cap. */
export function createInstallationBudget(options: InstallationBudgetOptions): InstallationBudget | null {
  const { caps, metrics, itemUsdMax } = options;
  if (caps.day === null && caps.month === null) return null;
  let samples: readonly BillSample[] = [];
  return {
    async read() {
      // Read first: events that are counted in the meantime are then counted twice rather than not at all.
      const uncounted = (await options.uncounted()) * itemUsdMax;
      const now = options.now();
      const { day, month, bySource } = await readBills(options, now);
      const sample = { atMs: now.getTime(), usd: bySource };
      samples = [...samples.filter(({ atMs }) => atMs > sample.atMs - recentMs), sample];
      for (const [period, usd] of [['day', day] as const, ['month', month] as const])
        metrics.installationBilled.set({ period }, usd);
      return allowanceOf(caps, { day, month, uncounted, atRisk: atRiskOf(samples) }, now);
    },
  };
}

interface UsageRow {
  source_id: string;
  kind: BilledKind;
  today: number;
  in_month: number;
}

async function readBills({ database, prices }: InstallationBudgetOptions, now: Date) {
  const firstDay = (period: 'day' | 'month') => periodAt(period, now).start.toISOString().slice(0, 10);
  const rows = await database.many<UsageRow>(
    `select source_id, kind, sum(at_most)::bigint as in_month,
       coalesce(sum(at_most) filter (where day >= $1::date), 0)::bigint as today
     from source_usage where day >= $2::date group by source_id, kind`,
    [firstDay('day'), firstDay('month')],
  );
  const bySource = new Map<string, number>();
  let [day, month] = [0, 0];
  for (const { source_id: id, kind, today, in_month } of rows) {
    const platform = platformOf(id);
    const price = platform ? priceOf(prices, platform, kind) : 0;
    day += today * price;
    month += in_month * price;
    bySource.set(id, (bySource.get(id) ?? 0) + in_month * price);
  }
  return { day, month, bySource };
}
