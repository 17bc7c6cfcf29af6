import type { AnswerOf } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import type { Database } from '../engines/database.ts';
import { noSuchRule } from '../rules/refusals.ts';
import { matchIdOf } from '../runtime/ids.ts';
import { provenAfter } from './relevance.sql.ts';
import { recallOf, wilson } from './wilson.ts';

export interface GetRelevanceOptions {
  readonly database: Database;
  /** The model of the judge; null if there is none. */
  readonly model: string | null;
}

/** Rejected matches that are offered for a label each week. */
const auditedPerWeek = 10;

interface CountsRow {
  readonly is_judged: boolean;
  readonly labels: AnswerOf<'GetRelevance'>['labels'];
  readonly verdicts: AnswerOf<'GetRelevance'>['verdicts'];
  /** Labelled matches that the judge did not reject. */
  readonly kept: number;
  readonly kept_relevant: number;
  readonly audited: number;
  readonly audited_relevant: number;
  readonly audit: string[];
  readonly usd: number;
}

/**
 * Of the rejected matches, only labels of the random samples count: people look for wrongly rejected matches, so the others are no sample.
 * A sample is ordered by a hash, which does not depend on who looks.
 */
export function getRelevance({ database, model }: GetRelevanceOptions): Handler<'GetRelevance'> {
  return async ({ principal: { accountId }, request }) => {
    const counts = await database.forAccount(accountId).one<CountsRow>(
      `with rule as (
         select id, intent_version, judged_position is not null as is_judged from rules
         where account_id = $1 and id = $2 and state not in ('creating', 'deleted')
       ), own as (
         select position, label, case when judged_by = $3 and match_relevance.intent_version = rule.intent_version
           then verdict end as verdict, judged_at
         from match_relevance join rule on rule.id = rule_id where account_id = $1
       ), sample as (
         select position, label, judged_at from (
           select *, row_number() over (partition by date_trunc('week', judged_at, 'UTC') order by md5(position::text), position) as nth
           from own where verdict = 'not_relevant') as rejected
         where nth <= $4
       )
       select is_judged,
         (select json_build_object('relevant', count(*) filter (where label = 'relevant'),
            'not_relevant', count(*) filter (where label = 'not_relevant')) from own) as labels,
         (select json_build_object('relevant', count(*) filter (where verdict = 'relevant'),
            'not_relevant', count(*) filter (where verdict = 'not_relevant'),
            'unsure', count(*) filter (where verdict = 'unsure'),
            'unjudged', count(*) filter (where verdict = 'unjudged')) from own) as verdicts,
         (select count(*) from own where label is not null and verdict is distinct from 'not_relevant') as kept,
         (select count(*) from own where label = 'relevant' and verdict is distinct from 'not_relevant') as kept_relevant,
         (select count(*) from sample where label is not null) as audited,
         (select count(*) from sample where label = 'relevant') as audited_relevant,
         array(select position::text from sample where label is null
           and judged_at >= date_trunc('week', now(), 'UTC') order by position desc) as audit,
         (select coalesce(sum(usd), 0) from judge_usage
          where account_id = $1 and rule_id = $2 and day > (now() at time zone 'UTC')::date - 30) as usd
       from rule`,
      [accountId, request.rule_id, model, auditedPerWeek],
    );
    if (!counts) throw noSuchRule();
    return toAnswer(request.rule_id, model, counts);
  };
}

function toAnswer(ruleId: string, model: string | null, counts: CountsRow): AnswerOf<'GetRelevance'> {
  const { labels, verdicts, audited, audited_relevant: wronglyRejected } = counts;
  const precision = wilson(counts.kept_relevant, counts.kept);
  const keptCount = verdicts.relevant + verdicts.unsure + verdicts.unjudged;
  const missing = Math.max(0, provenAfter - labels.relevant);
  return {
    rule_id: ruleId,
    judge: counts.is_judged ? model : null,
    labels,
    verdicts,
    is_proven: missing === 0,
    labels_missing: missing,
    precision,
    recall: recallOf(
      { count: keptCount, relevant: precision },
      { count: verdicts.not_relevant, relevant: wilson(wronglyRejected, audited) },
    ),
    audit: {
      labelled: audited,
      relevant: wronglyRejected,
      match_ids: counts.audit.map((position) => matchIdOf(Number(position))),
    },
    judge_usd: counts.usd,
  };
}
