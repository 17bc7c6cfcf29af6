import { type AnswerOf, type LabelName, platformDescriptions, type RequestOf } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import { type Change, recordChange } from '../accounts/change.ts';
import type { Database, Sql } from '../engines/database.ts';
import { positionOf } from '../runtime/ids.ts';
import { exclusionsOf, platformsOf } from './exclusions.ts';
import { type ForgetAccount, type FoundMatch, findMatches, noSuchMatch } from './relevance.sql.ts';
import { domainOf } from './which-mute.ts';

/** So many rejected matches of one author or site suggest a mute. */
const suggestedAfter = 3;

/** Labels all matches, or none if one does not exist. */
export function labelMatches({
  database,
  views,
}: {
  readonly database: Database;
  readonly views: ForgetAccount;
}): Handler<'LabelMatches'> {
  return async ({ principal: { accountId }, request, change }) => {
    const answer = await database
      .forAccount(accountId)
      .transaction((sql) => label(sql, accountId, request, change));
    views.forget(accountId);
    return answer;
  };
}

async function label(
  sql: Sql,
  accountId: string,
  request: RequestOf<'LabelMatches'>,
  change: Change,
): Promise<AnswerOf<'LabelMatches'>> {
  const positions = [...new Set(request.match_ids.map((id) => positionOf(id) ?? 0))];
  const matches = await findMatches(sql, accountId, positions);
  if (matches.length < positions.length) throw noSuchMatch();
  const before = await sql.many(
    'select position, label, note from match_relevance where account_id = $1 and position = any($2) order by position',
    [accountId, positions],
  );
  const { label, note = null } = request;
  if (label === null) await removeLabels(sql, accountId, positions);
  else await writeLabels(sql, { accountId, matches, label, note, keyId: change.actor });
  const ruleIds = [...new Set(matches.map(({ ruleId }) => ruleId))];
  const answer = {
    labelled: matches.length,
    mute_suggestions: label === 'not_relevant' ? await suggestions(sql, accountId, ruleIds) : [],
  };
  const [targetId = ''] = request.match_ids;
  const after = { match_ids: request.match_ids, label, note };
  await recordChange(sql, change, { targetId, before: { labels: before }, after, answer });
  return answer;
}

async function writeLabels(
  sql: Sql,
  {
    accountId,
    matches,
    label,
    note,
    keyId,
  }: {
    readonly accountId: string;
    readonly matches: readonly FoundMatch[];
    readonly label: LabelName;
    readonly note: string | null;
    readonly keyId: string;
  },
): Promise<void> {
  const columns = [
    matches.map(({ position }) => position),
    matches.map(({ ruleId }) => ruleId),
    matches.map(({ platform }) => platform),
    matches.map(({ day }) => day),
    matches.map(({ payload: { author } }) => author?.handle?.toLowerCase() ?? author?.id ?? null),
    matches.map(({ platform, payload }) =>
      platformDescriptions[platform].hasSites ? domainOf(payload.url) : null,
    ),
  ];
  await sql.run(
    `insert into match_relevance (account_id, position, rule_id, platform, event_day, author, domain, label, note, labelled_by, labelled_at)
     select $1, given.*, $2, $3, $4, now()
     from unnest($5::bigint[], $6::text[], $7::text[], $8::date[], $9::text[], $10::text[]) as given
     on conflict (position) do update set label = excluded.label, note = excluded.note, author = excluded.author,
       domain = excluded.domain, labelled_by = excluded.labelled_by, labelled_at = excluded.labelled_at`,
    [accountId, label, note, keyId, ...columns],
  );
}

/** The verdict of the judge, if there is one, counts again. */
async function removeLabels(sql: Sql, accountId: string, positions: readonly number[]): Promise<void> {
  const own = 'account_id = $1 and position = any($2)';
  await sql.run(`delete from match_relevance where ${own} and verdict is null`, [accountId, positions]);
  await sql.run(
    `update match_relevance set label = null, note = null, labelled_by = null, labelled_at = null,
       author = null, domain = null where ${own}`,
    [accountId, positions],
  );
}

interface SuggestionRow {
  readonly rule_id: string;
  readonly author: string | null;
  readonly domain: string | null;
  readonly rejected: number;
}

/** Authors and sites without a relevant match of the rule: a mute would hide no match that was labelled relevant. */
async function suggestions(
  sql: Sql,
  accountId: string,
  ruleIds: readonly string[],
): Promise<AnswerOf<'LabelMatches'>['mute_suggestions']> {
  const by = (field: 'author' | 'domain', columns: string) =>
    `select rule_id, ${columns}, count(*) as rejected from match_relevance
     where account_id = $1 and rule_id = any($2) and label is not null and ${field} is not null
       and not exists (select from mutes where mutes.account_id = $1 and mutes.field = '${field}'
         and mutes.value = match_relevance.${field} and coalesce(mutes.rule_id, match_relevance.rule_id) = match_relevance.rule_id)
     group by rule_id, ${field} having count(*) >= $3 and bool_and(label = 'not_relevant')`;
  const rows = await sql.many<SuggestionRow>(
    `${by('author', 'author, null as domain')} union all ${by('domain', 'null, domain')}
     order by rejected desc, rule_id limit 20`,
    [accountId, ruleIds, suggestedAfter],
  );
  const platforms = await platformsOf(
    sql,
    rows.map(({ rule_id }) => rule_id),
  );
  return rows.map((row) => {
    const field = row.author === null ? 'domain' : 'author';
    return { ...row, query: exclusionsOf(platforms.get(row.rule_id) ?? [], field, row[field] ?? '') };
  });
}
