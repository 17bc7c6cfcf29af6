import type { LabelName, Match, MatchPayload, Platform } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { Failure } from '../runtime/failure.ts';
import type { PreparedMute } from './which-mute.ts';

type Verdict = NonNullable<Match['relevance']>['verdict'];

/** What decides how the matches of an account are shown. */
export interface AccountRelevance {
  readonly mutes: readonly PreparedMute[];
  /** Whether some matches have labels or verdicts. */
  readonly hasFacts: boolean;
  /** The rules that the judge judges. */
  readonly judged: ReadonlyMap<string, JudgedRule>;
}

export interface JudgedRule {
  /** The judge is done with the matches up to this position. */
  readonly through: number;
  /** The rule has enough labels to show what the judge hides wrongly. */
  readonly isProven: boolean;
  /** The owner accepts that it has not. */
  readonly hidesUnproven: boolean;
}

/** With fewer relevant labels, what the judge hides wrongly cannot be estimated (docs/relevance.md). */
export const provenAfter = 60;

/** What is known of one match. */
export interface Fact {
  readonly position: number;
  readonly label: LabelName | null;
  readonly note: string | null;
  readonly verdict: Verdict | null;
  readonly reason: string | null;
  readonly intentVersion: number | null;
}

export async function readAccount(
  database: Database,
  accountId: string,
  { hasJudge }: { readonly hasJudge: boolean },
): Promise<AccountRelevance> {
  const [row] = await database.forAccount(accountId).prepared<{
    hasLabels: boolean;
    mutes: PreparedMute[];
    judged: Array<JudgedRule & { readonly id: string }>;
  }>(
    `select exists (select from match_relevance where account_id = $1 and label is not null) as "hasLabels",
       (select coalesce(json_agg(json_build_object('id', id, 'ruleId', rule_id, 'field', field, 'value', value)), '[]')
        from mutes where account_id = $1) as mutes,
       (select coalesce(json_agg(json_build_object('id', id, 'through', judged_position,
            'hidesUnproven', coalesce((relevance->>'accept_unproven')::boolean, false),
            'isProven', (select count(*) from (select from match_relevance
               where rule_id = rules.id and label = 'relevant' limit $2) as relevant) = $2)), '[]')
        from rules where account_id = $1 and judged_position is not null and state not in ('creating', 'deleted')) as judged`,
    [accountId, provenAfter],
  );
  const { hasLabels = false, mutes = [], judged = [] } = row ?? {};
  return {
    mutes,
    hasFacts: hasLabels || judged.length > 0,
    judged: new Map(hasJudge ? judged.map(({ id, ...rule }) => [id, rule]) : []),
  };
}

export async function readFacts(
  database: Database,
  accountId: string,
  positions: readonly number[],
): Promise<Map<number, Fact>> {
  const rows = await database.forAccount(accountId).prepared<Fact>(
    `select position, label, note, verdict, reason, intent_version as "intentVersion" from match_relevance
     where account_id = $1 and position = any($2)`,
    [accountId, positions],
  );
  return new Map(rows.map((row) => [row.position, row]));
}

/** A stored match of the account, found by its position. */
export interface FoundMatch {
  readonly position: number;
  readonly ruleId: string;
  readonly platform: Platform;
  readonly eventKey: string;
  readonly day: string;
  readonly payload: MatchPayload;
}

/** The days of the account say in which partition a position is. */
export async function findMatches(
  sql: Pick<Sql, 'many'>,
  accountId: string,
  positions: readonly number[],
): Promise<FoundMatch[]> {
  const rows = await sql.many<Omit<FoundMatch, 'payload'> & { payload: string }>(
    `with found as materialized (
       select own.* from unnest($2::bigint[]) as asked (position)
       join day_heads on day_heads.account_id = $1 and day_heads.rule_id = ''
         and asked.position between day_heads.first_position and day_heads.last_position
       cross join lateral (
         select position, rule_id, platform, event_key, event_day from matches
         where account_id = $1 and platform = day_heads.platform and event_day = day_heads.event_day
           and matches.position = asked.position limit 1
       ) as own
       join rules on rules.id = own.rule_id and rules.state not in ('creating', 'deleted')
     ), wanted as (
       select array_agg(rule_id) as rule_ids, array_agg(event_key) as event_keys, array_agg(platform) as platforms,
         array_agg(event_day) as event_days
       from found
     )
     select position, found.rule_id as "ruleId", platform, found.event_key as "eventKey", found.event_day::text as day, posts.payload
     from wanted cross join lateral posts_of(rule_ids, event_keys, platforms, event_days) as posts
     join found on found.rule_id = posts.rule_id and found.event_key = posts.event_key and found.event_day = posts.event_day`,
    [accountId, positions],
  );
  return rows.map((row) => ({ ...row, payload: JSON.parse(row.payload) }));
}

/** Makes a change of the account visible to its readers on this node at once. */
export interface ForgetAccount {
  forget(accountId: string): void;
}

/** The same answer, to the byte, for an unknown id, a removed match and another account's match (I7). */
export function noSuchMatch(): Failure {
  return new Failure(
    'not_found',
    'The match does not exist: it was removed, or is no longer stored. List your matches to see their ids.',
  );
}

/** A match may be removed while it is labelled or judged: its row is deleted then, and again after retention. All, if not named. */
export async function removeOrphans(
  sql: Pick<Sql, 'run'>,
  positions: readonly number[] | null = null,
): Promise<void> {
  await sql.run(
    `delete from match_relevance using removals
     where removals.match_position = match_relevance.position
       and ($1::bigint[] is null or match_relevance.position = any($1))`,
    [positions],
  );
}
