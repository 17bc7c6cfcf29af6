import type { Estimate, Platform } from '@earshot/contract';
import type { Bells } from '../engines/bells.ts';
import type { Database, Sql } from '../engines/database.ts';
import { raiseNotices, resolveNotices } from '../notices/notice-log.sql.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { learnFactor } from './count-factors.sql.ts';
import { type CountItemsOptions, countOnce } from './count-items.ts';

/*
 * An estimate is kept with the version of the rule that was made after it, and compared with what came: after a day and after a
 * week in which that version was served without a break.
 */

export interface GradeOptions extends CountItemsOptions {
  readonly telemetry: Pick<Telemetry, 'estimateGraded'>;
  readonly bells: Pick<Bells, 'ring'>;
}

/** What came in so many days, and how many it was estimated to be. */
export interface Grade {
  readonly ruleId: string;
  readonly version: number;
  readonly accountId: string;
  readonly platform: Platform;
  readonly basis: Estimate['basis'];
  readonly bound: Estimate['bound'];
  readonly days: 1 | 7;
  readonly matches: number;
  readonly estimated: number;
}

interface NamedGrade extends Grade {
  readonly ruleName: string;
}

const rulesAtOnce = 100;
/** Below this, chance alone is far off. */
const tellingMin = 20;

/** Both steps may run on every node: a row is written once, and graded under its lock. */
export async function gradeEstimates(options: GradeOptions): Promise<void> {
  const { database, telemetry, bells } = options;
  await keepWithRules(database);
  await resolveReplaced(database);
  for (const days of [1, 7] as const) {
    const grades = await database.transaction(async (sql) => {
      const due = await gradeDue(sql, days);
      await tellOff(sql, due);
      return due;
    });
    if (grades.length > 0) bells.ring('notices');
    for (const { ruleName: _, ...grade } of grades) {
      telemetry.estimateGraded({ ...grade, isOff: isEstimateOff(grade) });
      if (days === 1 && grade.basis === 'counts') await learnFrom(options, grade);
    }
  }
}

/** Whether the account has to be told that what comes is not what was estimated: twice as much or half, or beyond a bound. */
export function isEstimateOff({ bound, matches, estimated }: Pick<Grade, 'bound' | 'matches' | 'estimated'>) {
  if (Math.max(matches, estimated) < tellingMin) return false;
  const ratio = matches / Math.max(1, estimated);
  switch (bound) {
    case 'at_least':
      return ratio < 0.7;
    case 'at_most':
      return ratio > 1.3;
    case null:
      return ratio < 0.5 || ratio > 2;
  }
}

/** With the grades, in the order in which the logs of accounts are locked. What was told before is over, or told anew. */
async function tellOff(sql: Sql, grades: readonly NamedGrade[]): Promise<void> {
  for (const grade of grades.toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1))) {
    const { ruleId, accountId, platform, version, days, matches, basis } = grade;
    const subject = { kind: 'rule', id: ruleId, name: grade.ruleName } as const;
    await resolveNotices(sql, { types: ['estimate.off'], subject, key: platform });
    if (!isEstimateOff(grade)) continue;
    const estimated = Math.round(grade.estimated);
    const data = { platform, version, days, matches, estimated, basis };
    await raiseNotices(sql, [accountId], { type: 'estimate.off', subject, key: platform, data });
  }
}

/** What was told of a value does not hold for another one. */
async function resolveReplaced(database: Database): Promise<void> {
  const replaced = await database.many<{ subject_id: string; key: string }>(
    `select subject_id, key from notices left join rules on rules.id = subject_id
     left join rule_versions graded on graded.rule_id = rules.id and graded.platform = key
       and graded.version = (data->>'version')::integer
     left join rule_versions present on present.rule_id = rules.id and present.platform = key
       and present.version = rules.version
     where type = 'estimate.off' and resolved_at is null and (rules.id is null or rules.state = 'deleted'
       or (present.translated_value, present.options::text) is distinct from (graded.translated_value, graded.options::text))`,
  );
  for (const { subject_id: id, key } of replaced)
    await database.transaction((sql) =>
      resolveNotices(sql, { types: ['estimate.off'], subject: { kind: 'rule', id }, key }),
    );
}

/** Versions that began to be served after their value was previewed. */
async function keepWithRules(database: Database): Promise<void> {
  await database.run(
    `insert into rule_estimates (rule_id, version, platform, account_id, basis, bound, mean, p50, p90, served_since)
     select holders.rule_id, holders.rule_version, kept.platform, kept.account_id, kept.basis, kept.bound, kept.mean, kept.p50,
       kept.p90, watches.from_at
     from estimates kept
     join slots on slots.platform = kept.platform and slots.value_hash = kept.value_hash
     join slot_holders holders on holders.account_id = kept.account_id and holders.platform = kept.platform
       and holders.slot_id = slots.id and not holders.pending
     join watches on watches.slot_id = slots.id and watches.rule_id = holders.rule_id and watches.to_at is null
       and watches.from_at >= kept.made_at
     on conflict do nothing`,
  );
}

async function gradeDue(sql: Sql, days: 1 | 7): Promise<NamedGrade[]> {
  const until = `(served_since + interval '${days} days')`;
  const positionAt = (time: string) =>
    `coalesce((select first_position from match_times where began >= began_of(${time}) order by began limit 1), ${Number.MAX_SAFE_INTEGER})`;
  const rows = await sql.many<Omit<NamedGrade, 'days'> & { isWhole: boolean }>(
    `with due as (
       select rule_id, version, platform, served_since from rule_estimates
       where not graded and matches_${days}d is null and ${until} < now()
       order by served_since limit ${rulesAtOnce} for update skip locked
     ), came as (
       select due.*, exists (
           select 1 from watches where watches.rule_id = due.rule_id and watches.platform = due.platform
             and watches.from_at = due.served_since and (watches.to_at is null or watches.to_at >= ${until})
         ) as is_whole, (
           select count(*) from matches where matches.rule_id = due.rule_id and matches.platform = due.platform
             and position >= ${positionAt('due.served_since')} and position < ${positionAt(until)}
         ) as matches
       from due
     )
     update rule_estimates graded set matches_${days}d = case when is_whole then came.matches end,
       graded = not is_whole or ${days === 7}
     from came
     where graded.rule_id = came.rule_id and graded.version = came.version and graded.platform = came.platform
     returning graded.rule_id as "ruleId", (select name from rules where rules.id = graded.rule_id) as "ruleName", graded.version, graded.account_id as "accountId", graded.platform, graded.basis,
       graded.bound, came.matches, graded.mean * ${days} as estimated, is_whole as "isWhole"`,
  );
  return rows.flatMap(({ isWhole, ...grade }) => (isWhole ? [{ ...grade, days }] : []));
}

/** What the platform counts of the very day that was graded: how much its counts leave out. */
async function learnFrom(options: GradeOptions, { ruleId, version, platform }: Grade): Promise<void> {
  const { database } = options;
  const row = await database.one<{ value: string; served_since: Date }>(
    `select translated_value as value, served_since from rule_versions join rule_estimates using (rule_id, version, platform)
     where rule_id = $1 and version = $2 and platform = $3`,
    [ruleId, version, platform],
  );
  if (!row) return;
  const fromMs = row.served_since.getTime();
  const counted = await countOnce(options, {
    platform,
    value: row.value,
    span: { fromMs, toMs: fromMs + 86_400_000 },
  });
  if (counted === null) return;
  const came = await database.one<{ matches: number }>(
    `select count(*) as matches from matches where rule_id = $1 and platform = $2 and created_at >= $3 and created_at < $4`,
    [ruleId, platform, new Date(counted.fromMs), new Date(counted.toMs)],
  );
  await learnFactor(database, { ...counted, platform, matches: came?.matches ?? 0 });
}
