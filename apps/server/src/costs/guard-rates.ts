import type { Budget } from '@earshot/contract';
import { byEarshot } from '../accounts/change.ts';
import type { Bells } from '../engines/bells.ts';
import type { Database, Sql } from '../engines/database.ts';
import type { Standing } from '../metering/budget-standing.ts';
import type { Prices } from '../metering/prices.ts';
import { raiseNotices, resolveNotices } from '../notices/notice-log.sql.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { lockRule, pauseLocked } from '../rules/rule-changes.sql.ts';
import { readStanding, type WatchedRule, watchedRules } from './budgets.sql.ts';
import { burstFrom, judgeRate, type RuleRate } from './rate-guard.ts';

export interface GuardRatesOptions {
  readonly database: Database;
  readonly bells: Bells;
  readonly telemetry: Telemetry;
  readonly prices: Prices;
  /** Of a rule that has none of its own; null for none. */
  readonly ruleBudget: Budget | null;
  readonly now: () => Date;
}

/** Looks at the rules that bring much, and at those of which that was told. A rule's own matches alone decide. */
export async function guardRates(options: GuardRatesOptions): Promise<void> {
  const { database, bells, ruleBudget } = options;
  const rates = await readRates(database);
  for (const rule of await watchedRules(database, [...rates.keys()], ruleBudget)) {
    const rate = rates.get(rule.id);
    if (rate) await guard(options, rule, rate);
  }
  await resolveCalm(database, [...rates.keys()]);
  if (rates.size > 0) {
    bells.ring('slots');
    bells.ring('notices');
  }
}

async function guard(
  { database, telemetry, prices, now }: GuardRatesOptions,
  { id: ruleId, subjects }: WatchedRule,
  rate: RuleRate,
): Promise<void> {
  const standings: Standing[] = [];
  for (const subject of subjects)
    if (subject.budget.on_reached === 'pause')
      standings.push(await readStanding(database, subject, { prices, now: now() }));
  const verdict = judgeRate(rate, standings);
  if (verdict === 'calm') return;
  await database.transaction(async (sql) => {
    const locked = await lockRule(sql, ruleId);
    if (locked?.state !== 'active' && locked?.state !== 'failed') return;
    // A change of it is under way: it is looked at again in half a minute.
    const pauses = verdict === 'pause' && locked.changing_to === null;
    const resumesAt = longest(standings);
    if (pauses) {
      const change = byEarshot(locked.account_id, 'StopForRate');
      await pauseLocked(sql, locked, change, { prices, until: { reason: 'budget', resumesAt } });
      telemetry.ruleChanged({ ruleId, accountId: locked.account_id, change: 'stopped' });
      // What was told before says that it goes on.
      await resolveNotices(sql, { types: ['rate.guard'], subject: { kind: 'rule', id: ruleId } });
    }
    await raiseNotices(sql, [locked.account_id], {
      type: 'rate.guard',
      subject: { kind: 'rule', id: ruleId, name: locked.name },
      data: {
        matches_per_minute: rate.latest,
        usual_per_minute: rate.usual === null ? null : Math.round(rate.usual * 10) / 10,
        paused: pauses,
        resumes_at: pauses ? (resumesAt?.toISOString() ?? null) : null,
      },
    });
  });
}

/** When the last of the periods ends; null where one does not. */
function longest(standings: readonly Standing[]): Date | null {
  const ends = standings.map(({ period }) => period.end?.getTime() ?? null);
  if (ends.length === 0 || ends.includes(null)) return null;
  return new Date(Math.max(...ends.map((end) => end ?? 0)));
}

const usualDays = 7;
const positionAt = (time: string) =>
  `coalesce((select first_position from match_times where began >= began_of(${time}) order by began limit 1), ${Number.MAX_SAFE_INTEGER})`;

/** Of the rules that brought enough in each of the last two minutes, to ten seconds. */
async function readRates(sql: Sql): Promise<Map<string, RuleRate>> {
  const rows = await sql.many<{ rule_id: string; latest: number; before: number; usual: number | null }>(
    `with minutes as materialized (
       select ${positionAt(`now() - interval '2 minutes'`)} as first, ${positionAt(`now() - interval '1 minute'`)} as second
     ), busy as (
       select rule_id, count(*) filter (where position >= second) as latest, count(*) filter (where position < second) as before
       from matches, minutes where position >= first group by rule_id
     ), days as materialized (
       select n, ${positionAt(`now() - n * interval '1 day' - interval '30 minutes'`)} as first,
         ${positionAt(`now() - n * interval '1 day' + interval '30 minutes'`)} as next
       from generate_series(1, ${usualDays}) as n
     )
     select busy.*, (
         select sum((select count(*) from matches where matches.rule_id = busy.rule_id and position >= first and position < next))
           / (60.0 * count(*)) from days where now() - n * interval '1 day' - interval '30 minutes' >= rules.created_at
       )::float8 as usual
     from busy join rules on rules.id = busy.rule_id where latest > $1 and before > $1`,
    [burstFrom],
  );
  return new Map(rows.map(({ rule_id, ...rate }) => [rule_id, rate]));
}

/** What was told is over when the rule listens and brings less again, or is gone. */
async function resolveCalm(database: Database, busy: readonly string[]): Promise<void> {
  const rows = await database.many<{ subject_id: string }>(
    `select distinct subject_id from notices left join rules on rules.id = subject_id
     where type = 'rate.guard' and resolved_at is null and subject_id <> all($1)
       and (rules.id is null or rules.state in ('active', 'failed', 'deleted')) order by subject_id`,
    [busy],
  );
  for (const { subject_id: id } of rows)
    await database.transaction((sql) =>
      resolveNotices(sql, { types: ['rate.guard'], subject: { kind: 'rule', id } }),
    );
}
