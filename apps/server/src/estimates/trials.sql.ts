import type { Platform } from '@earshot/contract';
import type { CoverageStore } from '../coverage/coverage-store.sql.ts';
import { coverageOf } from '../coverage/ledger.ts';
import type { Database } from '../engines/database.ts';
import type { RuleValue } from '../slots/slot-holding.sql.ts';

/** The result of a trial of a query. */
export interface TrialResult {
  readonly matches: number;
  /** How long the trial was covered: its source received for it. */
  readonly coveredMs: number;
  readonly isRunning: boolean;
}

export interface ReadTrialOptions {
  readonly database: Database;
  readonly coverage: CoverageStore;
}

interface TrialQuery {
  readonly accountId: string;
  readonly value: RuleValue;
  readonly since: Date;
  readonly nowMs: number;
}

/** A running trial is significant once it has either of these. */
const runningMatchesMin = 10;
const runningMsMin = 10 * 60_000;
const trialsMax = 3;
const statementMsMax = 1_000;

/**
 * The newest trial of the account with exactly this query that has a significant result. It is found by the versions of the
 * account's rules and not by slots: whether a slot outlives a pause depends on which other accounts hold it.
 */
export async function readTrial(options: ReadTrialOptions, query: TrialQuery): Promise<TrialResult | null> {
  for (const trial of await findTrials(options.database, query)) {
    const coveredMs = await coveredMsOf(options.coverage, trial, query);
    const { matches, to_at } = trial;
    const isRunning = to_at === null;
    const isSignificant = !isRunning || matches >= runningMatchesMin || coveredMs >= runningMsMin;
    if (coveredMs > 0 && isSignificant) return { matches, coveredMs, isRunning };
  }
  return null;
}

interface TrialRow {
  rule_id: string;
  from_at: Date;
  to_at: Date | null;
  matches: number;
  first_at: Date | null;
}

/**
 * A trial ends when its rule was first paused or got another query. What the rule matches later, after a resume, becomes a history.
 */
async function findTrials(database: Database, { accountId, value, since }: TrialQuery): Promise<TrialRow[]> {
  const { platform, translatedValue, options = {} } = value;
  const isOfValue = 'v.platform = $2 and v.translated_value = $3 and v.options::text = $4';
  return await database.forAccount(accountId).snapshot(async (sql) => {
    await sql.run(`set local statement_timeout = ${statementMsMax}`);
    return await sql.many<TrialRow>(
      `with trials as (
         select rules.id as rule_id, first.from_at, first.to_at from rules
         join rule_versions v on v.rule_id = rules.id and v.version = 1 and ${isOfValue}
         join lateral (
           select from_at, to_at from watches where watches.rule_id = rules.id and watches.platform = $2
           order by from_at limit 1
         ) as first on true
         where rules.account_id = $1 and rules.trial and rules.state in ('active', 'failed', 'paused') and first.from_at >= $5
         order by first.from_at desc limit ${trialsMax}
       )
       select trials.*, found.matches, found.first_at from trials, lateral (
         select count(*) as matches, min(created_at) as first_at from matches
         where matches.rule_id = trials.rule_id and matches.platform = $2
           and position >= (select first_position from match_times where began >= began_of(from_at) order by began limit 1)
           and created_at between from_at and coalesce(to_at, now())
           and rule_version in (select version from rule_versions v where v.rule_id = trials.rule_id and ${isOfValue})
       ) as found
       order by from_at desc`,
      [accountId, platform, translatedValue, JSON.stringify(options), since],
    );
  });
}

/** From the account's coverage ledger: a disconnected stream says nothing about the query. */
async function coveredMsOf(
  coverage: CoverageStore,
  { rule_id: ruleId, from_at: from, to_at, first_at }: TrialRow,
  { accountId, value, nowMs }: TrialQuery,
): Promise<number> {
  const platform: Platform = value.platform;
  const to = to_at ?? new Date(nowMs);
  const ledger = await coverage.read({ accountId, ruleId, platform, from, to });
  const spans = coverageOf(ledger).flatMap(({ timeline }) => timeline);
  let coveredMs = 0;
  for (const span of spans) {
    const until = Math.min(span.to, to.getTime());
    if (span.state === 'live') coveredMs += until - span.from;
    // A platform may apply a rule earlier than it says: at the latest from the first match on.
    if (span.state === 'starting' && first_at !== null)
      coveredMs += Math.max(0, until - Math.max(span.from, first_at.getTime()));
  }
  return coveredMs;
}
