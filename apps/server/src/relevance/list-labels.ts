import type { Label } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import type { Database } from '../engines/database.ts';
import { noSuchRule } from '../rules/refusals.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import type { Cursors, PageQuery } from '../runtime/cursor.ts';
import { matchIdOf } from '../runtime/ids.ts';

type LabelRow = Omit<Label, 'match_id' | 'labelled_at'> & {
  readonly position: number;
  readonly labelled_at: Date;
};

export function listLabels({
  database,
  rules,
  cursors,
}: {
  readonly database: Database;
  readonly rules: Pick<RuleStore, 'exists'>;
  readonly cursors: Cursors;
}): Handler<'ListLabels'> {
  return async ({ principal: { accountId }, request }) => {
    const ruleId = request.rule_id ?? null;
    if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw noSuchRule();
    const read = ({ before, limit }: PageQuery) =>
      database.forAccount(accountId).many<LabelRow>(
        `select position, rule_id, platform, label, note, labelled_at, labelled_by from match_relevance
         where account_id = $1 and label is not null and ($2::text is null or rule_id = $2)
           and ($3::bigint is null or position < $3)
           and rule_id not in (select id from rules where account_id = $1 and state in ('creating', 'deleted'))
         order by position desc limit $4`,
        [accountId, ruleId, before, limit],
      );
    const scope = { accountId, filter: ['labels', ruleId] };
    const page = await cursors.page(scope, request, read, ({ position }) => String(position));
    return { labels: page.items.map(toLabel), next_cursor: page.next_cursor };
  };
}

function toLabel({ position, labelled_at, ...row }: LabelRow): Label {
  return { match_id: matchIdOf(position), ...row, labelled_at: labelled_at.toISOString() };
}
