import { platforms as allPlatforms, type Mute, type MuteField, muteFields } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import { lockAccount, recordChange } from '../accounts/change.ts';
import type { Database } from '../engines/database.ts';
import { noSuchRule } from '../rules/refusals.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import type { Cursors, PageQuery } from '../runtime/cursor.ts';
import { badField, Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import { exclusionsOf, platformsOf } from './exclusions.ts';
import type { ForgetAccount } from './relevance.sql.ts';
import { fieldsOf, normalizeMuted } from './which-mute.ts';

export interface MuteOptions {
  readonly database: Database;
  readonly views: ForgetAccount;
  readonly rules: Pick<RuleStore, 'exists'>;
  readonly contact: string;
}

/** Each is compared with every match that is read. */
const mutesMax = 500;

interface MuteRow {
  readonly id: string;
  readonly rule_id: string | null;
  readonly field: MuteField;
  readonly value: string;
  readonly created_at: Date;
  readonly created_by: string | null;
}

const columns = 'id, rule_id, field, value, created_at, created_by';

export function muteMatches({ database, rules, views, contact }: MuteOptions): Handler<'MuteMatches'> {
  return async ({ principal: { accountId }, request, change }) => {
    const ruleId = request.rule_id ?? null;
    const field = muteFields.find((name) => request[name] !== undefined) ?? 'phrase';
    const value = normalizeMuted(field, request[field] ?? '');
    if (value === null) throw badField(field, notMutable[field]);
    if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw noSuchRule();
    const answer = await database.forAccount(accountId).transaction(async (sql) => {
      await lockAccount(sql, accountId);
      const known = await sql.one<{ used: number; same: string | null }>(
        `select count(*) as used, max(id) filter (where rule_id is not distinct from $2 and field = $3 and value = $4) as same
         from mutes where account_id = $1`,
        [accountId, ruleId, field, value],
      );
      if (known?.same)
        throw new Failure(
          'already_exists',
          `The mute ${known.same} is the same. Delete it to show its matches.`,
        );
      const used = known?.used ?? 0;
      if (used >= mutesMax)
        throw new Failure(
          'resource_exhausted',
          `The account has ${used} of ${mutesMax} mutes. Delete one, or exclude authors and sites in the query.`,
          { details: { reason: 'plan_limit', limit: mutesMax, used, contact } },
        );
      const row = await sql.one<MuteRow>(
        `insert into mutes (id, account_id, rule_id, field, value, created_by) values ($1, $2, $3, $4, $5, $6)
         returning ${columns}`,
        [newId('mut'), accountId, ruleId, field, value, change.actor],
      );
      if (!row) throw new Error('the mute was not inserted');
      const platforms =
        ruleId === null ? allPlatforms : ((await platformsOf(sql, [ruleId])).get(ruleId) ?? []);
      const mute = toMute(row);
      const made = { ...mute, mute_id: mute.id, query: exclusionsOf(platforms, field, value) };
      await recordChange(sql, change, { targetId: mute.id, before: null, after: mute, answer: made });
      return made;
    });
    views.forget(accountId);
    return answer;
  };
}

const notMutable: Readonly<Record<MuteField, string>> = {
  author: 'Must be a handle such as "ferris", or an id.',
  domain: 'Must be a domain such as "example.com".',
  phrase: 'Must have at least one letter or digit.',
};

export function listMutes({
  database,
  cursors,
}: {
  readonly database: Database;
  readonly cursors: Cursors;
}): Handler<'ListMutes'> {
  return async ({ principal: { accountId }, request }) => {
    const read = ({ before, limit }: PageQuery) =>
      database.forAccount(accountId).many<MuteRow>(
        `select ${columns} from mutes where account_id = $1 and ($2::text is null or id < $2)
           and (rule_id is null or rule_id not in (select id from rules where account_id = $1 and state = 'deleted'))
         order by id desc limit $3`,
        [accountId, before, limit],
      );
    const page = await cursors.page({ accountId, filter: ['mutes'] }, request, read, ({ id }) => id);
    return { mutes: page.items.map(toMute), next_cursor: page.next_cursor };
  };
}

export function deleteMute({
  database,
  views,
}: Pick<MuteOptions, 'database' | 'views'>): Handler<'DeleteMute'> {
  return async ({ principal: { accountId }, request, change }) => {
    const answer = await database.forAccount(accountId).transaction(async (sql) => {
      const row = await sql.one<MuteRow & { deleted_at: Date }>(
        `delete from mutes where account_id = $1 and id = $2 returning ${columns}, now() as deleted_at`,
        [accountId, request.mute_id],
      );
      if (!row) throw new Failure('not_found', 'The mute does not exist. List your mutes to see their ids.');
      const deleted = { mute_id: row.id, deleted_at: row.deleted_at.toISOString() };
      await recordChange(sql, change, {
        targetId: row.id,
        before: toMute(row),
        after: null,
        answer: deleted,
      });
      return deleted;
    });
    views.forget(accountId);
    return answer;
  };
}

function toMute({ id, rule_id, field, value, created_at, created_by }: MuteRow): Mute {
  return { id, rule_id, ...fieldsOf({ field, value }), created_at: created_at.toISOString(), created_by };
}
