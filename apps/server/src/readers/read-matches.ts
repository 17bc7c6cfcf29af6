import type { Platform, RequestOf } from '@earshot/contract';
import type { Handler, Principal } from '../accounts/call.ts';
import type { Plans } from '../accounts/plans.ts';
import type { ReadCoverage } from '../coverage/read-coverage.ts';
import type { Database, Sql } from '../engines/database.ts';
import { noSuchRule } from '../rules/refusals.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import type { Cursors } from '../runtime/cursor.ts';
import { Failure } from '../runtime/failure.ts';
import type { Following, MatchFilter } from './follow-matches.ts';
import type { MatchReader } from './match-reader.sql.ts';
import { formatOffset, parseOffset, refuseOvertaken, scopeOfReader, sealOffset, start } from './offset.ts';
import { toAnswer } from './to-match.ts';

export interface ReadMatchesOptions {
  readonly database: Database;
  readonly following: Following;
  readonly reader: Pick<MatchReader, 'overtaken'>;
  readonly rules: Pick<RuleStore, 'exists'>;
  readonly coverage: ReadCoverage;
  readonly cursors: Cursors;
  readonly plans: Plans;
  readonly contact: string;
}

type Request = RequestOf<'ReadMatches'>;

interface NamedReader {
  readonly ruleId: string | null;
  readonly platform: Platform | null;
  /** An offset; null while nothing is acknowledged and the reader begins at the oldest match. */
  readonly place: string | null;
}

/**
 * What a named reader has not acknowledged. Reading does not move it: a client that crashes before it has acknowledged
 * reads the same matches again.
 */
export function readMatches(options: ReadMatchesOptions): Handler<'ReadMatches'> {
  const { database, following, rules, coverage, cursors } = options;
  return async ({ principal, request, signal }) => {
    const { accountId } = principal;
    const reader =
      (await findReader(database.forAccount(accountId), accountId, request.reader)) ??
      (await createReader(options, principal, request));
    refuseOtherFilter(reader, request);
    const { ruleId, platform } = reader;
    if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw ruleIsGone();
    const filter: MatchFilter = { accountId, ruleId, platform };
    const offset = reader.place === null ? null : parseOffset(reader.place);
    const scope = scopeOfReader(accountId, request.reader);
    const jumpedTo = offset ? await refuseOvertaken(options, filter, scope, offset) : 0;
    using follower = following.follow(filter, offset?.position ?? 0, jumpedTo);
    const waitMs = (request.wait_seconds ?? 0) * 1_000;
    const entries = await follower.next({ limit: request.limit, waitMs, signal });
    const last = entries.at(-1);
    return {
      ...toAnswer(entries),
      cursor: last ? sealOffset(cursors, scope, { ...(offset ?? start), position: last.position }) : null,
      coverage: ruleId === null && platform === null ? null : await coverage(filter),
    };
  };
}

async function findReader(
  sql: Pick<Sql, 'one'>,
  accountId: string,
  name: string,
): Promise<NamedReader | null> {
  const row = await sql.one<{ rule_id: string | null; platform: Platform | null; place: string | null }>(
    'select rule_id, platform, place from readers where account_id = $1 and name = $2',
    [accountId, name],
  );
  return row && { ruleId: row.rule_id, platform: row.platform, place: row.place };
}

/**
 * Creates the reader, or returns the one that another request has just created under this name. Counted under the
 * account's row lock, so that two requests cannot both create the last one.
 */
async function createReader(
  { database, rules, following, plans, contact }: ReadMatchesOptions,
  { accountId, plan }: Principal,
  request: Request,
): Promise<NamedReader> {
  const name = request.reader;
  const ruleId = request.rule_id ?? null;
  const platform = request.platform ?? null;
  if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw noSuchRule();
  const { readersMax } = plans[plan];
  const place = request.start === 'now' ? formatOffset({ ...start, position: await following.now() }) : null;
  return await database.forAccount(accountId).transaction(async (sql) => {
    await sql.one('select 1 from accounts where id = $1 for update', [accountId]);
    const known = await findReader(sql, accountId, name);
    if (known) return known;
    const count = await sql.one<{ used: number }>(
      'select count(*) as used from readers where account_id = $1',
      [accountId],
    );
    const used = count?.used ?? 0;
    if (used >= readersMax) {
      throw new Failure(
        'resource_exhausted',
        `The account has ${used} of ${readersMax} readers: delete one, or ask ${contact} for more.`,
        { details: { limit: readersMax, used, contact } },
      );
    }
    await sql.run(
      'insert into readers (account_id, name, rule_id, platform, place) values ($1, $2, $3, $4, $5)',
      [accountId, name, ruleId, platform, place],
    );
    return { ruleId, platform, place };
  });
}

/** A request without a filter takes the reader's. With another filter the reader would silently skip matches. */
function refuseOtherFilter({ ruleId, platform }: NamedReader, request: Request): void {
  const sameRule = request.rule_id === undefined || request.rule_id === ruleId;
  if (sameRule && (request.platform === undefined || request.platform === platform)) return;
  throw new Failure(
    'already_exists',
    'A reader of this name has another filter, see details.reader: choose another name, or leave the filter out.',
    { details: { reader: { rule_id: ruleId, platform } } },
  );
}

function ruleIsGone(): Failure {
  return new Failure(
    'failed_precondition',
    'The rule of this reader was deleted, and its matches with it: delete the reader.',
  );
}
