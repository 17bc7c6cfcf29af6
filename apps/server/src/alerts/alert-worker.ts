import { platformDescriptions } from '@earshot/contract';
import { type Prices, priceOf } from '../billing/prices.ts';
import type { CoverageStore } from '../coverage/coverage-store.sql.ts';
import { coverageOf } from '../coverage/ledger.ts';
import type { Timeline } from '../coverage/timeline.ts';
import type { Bells } from '../engines/bells.ts';
import type { Sql } from '../engines/database.ts';
import type { AlertData } from '../notices/notice-kinds.ts';
import { raiseNotices, resolveNotices } from '../notices/notice-log.sql.ts';
import { matchIdOf } from '../runtime/ids.ts';
import { platforms } from '../upstream/platforms.ts';
import { type AlertState, type AlertStep, advance, windowMs } from './alert-state.ts';
import { type AlertingRule, type AlertStore, bucketBegin } from './alerts.sql.ts';
import { baselineEnd, baselineOf, bucketMs, historyMs, type Series } from './baseline.ts';
import { judge } from './detect.ts';
import { topDomains, topWords } from './window-words.ts';

/*
 * Judges every 15 minutes of a rule once, when the coverage ledger shows that everything up to its end is matched. Each platform is
 * judged alone: a loud one would hide that another has fallen silent, and their gaps differ. Items are counted at their own time, and the
 * coverage is read again for two days: what a repair fetches later counts in the past, where it alarms no more.
 */

export interface AlertWorkerOptions {
  readonly store: AlertStore;
  readonly coverage: CoverageStore;
  readonly prices: Prices;
  readonly bells: Pick<Bells, 'ring'>;
  readonly nowMs: () => number;
}

/** Items reach Earshot within seconds. This leaves room for slow ones. */
const latenessMs = 60_000;
const dayMs = 24 * 3_600_000;
/** How far back repairs change the coverage. */
const repairedWithinMs = 2 * dayMs;
/** After a longer pause of the worker, older windows are no news. */
const judgedBackMs = dayMs;
const windowMsMax = dayMs;
const readsMax = 30;
const sampleIdsMax = 5;

export function createAlertStep({ store, coverage, prices, bells, nowMs }: AlertWorkerOptions) {
  return async (signal: AbortSignal): Promise<void> => {
    let changes = await store.end();
    await store.begin();
    for (const rule of await store.rules()) {
      if (signal.aborted) break;
      if (nowMs() < rule.judgedThrough.getTime() + bucketMs + latenessMs) continue;
      while (await store.countNew(rule));
      const through = await readCoverage(coverage, store, rule);
      if (through > rule.judgedThrough.getTime())
        changes += await judgeRule({ store, prices }, rule, through);
    }
    if (changes > 0) bells.ring('notices');
  };
}

/** Stores the coverage of each 15 minutes. Returns until when all matches are counted. */
async function readCoverage(coverage: CoverageStore, store: AlertStore, rule: AlertingRule): Promise<number> {
  const { accountId, ruleId, platform, since, judgedThrough } = rule;
  const fromMs = Math.max(
    since.getTime(),
    judgedThrough.getTime() - (rule.isNew ? historyMs : repairedWithinMs),
  );
  let [toMs, through] = [Number.POSITIVE_INFINITY, 0];
  for (let reads = 0; reads < readsMax && toMs > fromMs; reads++) {
    const query = { accountId, ruleId, platform, from: new Date(fromMs) };
    const ledger = await coverage.read({
      ...query,
      to: new Date(Math.min(toMs, judgedThrough.getTime() + historyMs)),
    });
    const [covered] = coverageOf(ledger);
    if (!covered) return 0;
    if (reads === 0) through = bucketBegin((covered.completeThrough ?? 0) - latenessMs);
    const endMs = Math.min(through, toMs);
    // The ledger returns the newest rows first: older ones need another read.
    const readFromMs = Math.min(ledger.from.getTime(), endMs);
    if (endMs <= fromMs) break;
    await store.cover(rule, coveredSeconds(covered.timeline, bucketBegin(readFromMs), endMs));
    if (readFromMs >= toMs) break;
    toMs = bucketBegin(readFromMs);
  }
  return through;
}

/** The covered seconds of each 15 minutes, by its start. */
export function coveredSeconds(timeline: Timeline, fromMs: number, toMs: number): Map<number, number> {
  const seconds = new Map<number, number>();
  for (let began = fromMs; began < toMs; began += bucketMs) seconds.set(began, 0);
  for (const { from, to, state } of timeline) {
    if (state !== 'live' && state !== 'repaired') continue;
    const end = Math.min(to, toMs);
    for (let began = bucketBegin(Math.max(from, fromMs)); began < end; began += bucketMs) {
      const covered = Math.min(end, began + bucketMs) - Math.max(from, began);
      seconds.set(began, (seconds.get(began) ?? 0) + covered / 1_000);
    }
  }
  return seconds;
}

async function readSeries(store: AlertStore, rule: AlertingRule, through: number): Promise<Series> {
  const fromMs = bucketBegin(
    Math.max(rule.since.getTime(), rule.judgedThrough.getTime() - historyMs - windowMsMax),
  );
  const length = Math.max(0, (through - fromMs) / bucketMs);
  const [counts, covered] = [new Float64Array(length), new Float64Array(length)];
  for (const { began, matches, seconds } of await store.counts(rule, new Date(fromMs), new Date(through))) {
    const at = (began.getTime() - fromMs) / bucketMs;
    counts[at] = matches;
    covered[at] = Math.min(1, (seconds * 1_000) / bucketMs);
  }
  return { fromMs, counts, covered };
}

/** Judges what is new, and reports it. Returns the number of reports. */
async function judgeRule(
  { store, prices }: Pick<AlertWorkerOptions, 'store' | 'prices'>,
  rule: AlertingRule,
  through: number,
): Promise<number> {
  const series = await readSeries(store, rule, through);
  const steps: AlertStep[] = [];
  let state: AlertState = rule.state;
  const firstMs = Math.max(rule.judgedThrough.getTime(), through - judgedBackMs, series.fromMs);
  for (let beganMs = firstMs; beganMs < through; beganMs += bucketMs) {
    const at = (beganMs - series.fromMs) / bucketMs;
    const baseline = baselineOf(series, baselineEnd(series, at), rule.counted);
    if (baseline === null) continue;
    const next = advance(state, judge(series, at, baseline, rule.sensitivity), beganMs + bucketMs);
    state = next.state;
    if (next.step) steps.push(next.step);
  }
  const reports = await Promise.all(steps.map((step) => reportOf({ store, prices }, rule, series, step)));
  const judgedThrough = new Date(through);
  const isStored = await store.conclude(rule, { state, judgedThrough }, async (sql) => {
    for (const report of reports) await report(sql);
  });
  return isStored ? reports.length : 0;
}

type Report = (sql: Sql) => Promise<unknown>;

async function reportOf(
  { store, prices }: Pick<AlertWorkerOptions, 'store' | 'prices'>,
  rule: AlertingRule,
  series: Series,
  step: AlertStep,
): Promise<Report> {
  const { ruleId, accountId, platform, name, query } = rule;
  const subject = { kind: 'rule', id: ruleId, name } as const;
  const open = { types: [`alert.${step.type}`] as const, subject, key: platform };
  const usdPerItem = priceOf(prices, platform, platforms[platform].billing.itemKind);
  const since = new Date(step.sinceMs).toISOString();
  if (step.kind === 'recover') {
    const matches = countBetween(series, step.sinceMs, step.nowMs);
    const data = { platform, alert: step.type, since, until: new Date(step.nowMs).toISOString(), matches };
    return async (sql) => {
      await resolveNotices(sql, open);
      await raiseNotices(sql, [accountId], { type: 'alert.recovered', subject, key: platform, data });
    };
  }
  const { window, expected, got, p } = step.evidence;
  const period = windowMs[window];
  const items =
    step.type === 'drop' ? [] : await store.sample(rule, new Date(step.nowMs - period), new Date(step.nowMs));
  const data: AlertData = {
    platform,
    expected: Math.round(expected * 100) / 100,
    got,
    window,
    p,
    since,
    top_words: topWords(items, query),
    top_domains: platformDescriptions[platform].hasSites ? topDomains(items) : [],
    sample_match_ids: items.slice(0, sampleIdsMax).map(({ position }) => matchIdOf(position)),
    usd_per_hour: Math.round(((got * 3_600_000) / period) * usdPerItem * 100) / 100,
  };
  return async (sql) => {
    // A spike that has doubled is a new notice.
    if (step.isEscalated) await resolveNotices(sql, open);
    await raiseNotices(sql, [accountId], { type: `alert.${step.type}`, subject, key: platform, data });
  };
}

function countBetween({ fromMs, counts }: Series, beginMs: number, endMs: number): number {
  let sum = 0;
  for (let at = Math.max(0, (beginMs - fromMs) / bucketMs); at < (endMs - fromMs) / bucketMs; at++)
    sum += counts[at] ?? 0;
  return sum;
}
