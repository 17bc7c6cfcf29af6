import type { AnswerOf, Platform, RequestOf } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import type { Database, Sql } from '../engines/database.ts';
import { noSuchRule } from '../rules/refusals.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import { Failure } from '../runtime/failure.ts';
import { findPlaces } from './match-days.sql.ts';
import { selectMatches } from './match-reader.sql.ts';

/** The most matches that one request counts. Only the account's own ones: other accounts must not influence the answer. */
const countedMax = 1_000_000;
const countMsMax = 5_000;
const seriesMax = 100;

export interface CountMatchesOptions {
  readonly database: Database;
  readonly rules: Pick<RuleStore, 'exists'>;
  /** Other limits, for tests. */
  readonly max?: number;
}

/** The column that separates series; null: there is one series. */
const keyOf = { rule: 'rule_id', platform: 'platform', all: 'null' } as const;

interface SeriesRow {
  readonly key: string | null;
  /** The steps that have matches, counted from 0. */
  readonly steps: number[];
  readonly counts: number[];
  /** The matches of all series, including those that are not returned. */
  readonly counted: number;
}

/** A histogram of the matches that `ListMatches` lists. It reads only matches of the requested period. */
export function countMatches({
  database,
  rules,
  max = countedMax,
}: CountMatchesOptions): Handler<'CountMatches'> {
  return async ({ principal: { accountId }, request }) => {
    const ruleId = request.rule_id ?? null;
    if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw noSuchRule();
    const rows = await database
      .forAccount(accountId)
      .snapshot((sql) => readSeries(sql, { accountId, request, max }))
      .catch((error: unknown) => {
        throw isCut(error) ? tooMany(max) : error;
      });
    if ((rows[0]?.counted ?? 0) > max) throw tooMany(max);
    const from = new Date(request.from);
    const to = new Date(request.to);
    const steps = Math.ceil((to.getTime() - from.getTime()) / (request.step * 1_000));
    return {
      from: from.toISOString(),
      to: to.toISOString(),
      step: request.step,
      series: toSeries(rows, request.by, steps),
    };
  };
}

async function readSeries(
  sql: Sql,
  { accountId, request, max }: { accountId: string; request: RequestOf<'CountMatches'>; max: number },
): Promise<SeriesRow[]> {
  await sql.run(`set local statement_timeout = ${countMsMax}`);
  const query = {
    accountId,
    ruleIds: request.rule_id === undefined ? null : [request.rule_id],
    platform: request.platform ?? null,
    since: new Date(request.from),
    until: new Date(request.to),
  };
  const places = await findPlaces(sql, { ...query, order: 'oldest', from: null, limit: max });
  const values: unknown[] = [accountId, max + 1, query.since, request.step];
  const matches = selectMatches(query, places, (value) => `$${values.push(value)}`);
  if (matches.length === 0) return [];
  return await sql.many<SeriesRow>(
    `with found as (
       select * from (${matches.join(' union all ')}) as matches limit $2
     ), counted as (
       select ${keyOf[request.by ?? 'all']} as key,
         floor(extract(epoch from created_at - $3::timestamptz) / $4::bigint)::integer as step, count(*) as count
       from found group by 1, 2
     )
     select key, array_agg(step) as steps, array_agg(count::integer) as counts,
       (sum(sum(count)) over ())::bigint as counted
     from counted group by key order by sum(count) desc, key limit ${seriesMax}`,
    values,
  );
}

/** Without matches there is one series of zeros, unless series are separate. */
function toSeries(
  rows: readonly SeriesRow[],
  by: RequestOf<'CountMatches'>['by'],
  length: number,
): AnswerOf<'CountMatches'>['series'] {
  if (by === undefined && rows.length === 0) return [{ counts: Array<number>(length).fill(0) }];
  return rows.map(({ key, steps, counts }) => {
    const filled = Array<number>(length).fill(0);
    for (const [index, step] of steps.entries()) filled[step] = counts[index] ?? 0;
    return {
      ...(by === 'rule' && key !== null && { rule_id: key }),
      ...(by === 'platform' && key !== null && { platform: key as Platform }),
      counts: filled,
    };
  });
}

function tooMany(max: number): Failure {
  return new Failure(
    'failed_precondition',
    `There are more than ${max.toLocaleString('en')} matches in this period, or counting takes too long. Request a shorter period, or one rule.`,
    { details: { reason: 'too_many_matches', limit: max } },
  );
}

/** Whether the statement exceeded its time limit. */
function isCut(error: unknown): boolean {
  if (!(error instanceof Failure)) return false;
  return error.cause instanceof Error && 'code' in error.cause && error.cause.code === '57014';
}
