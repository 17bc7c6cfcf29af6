import type { AnswerOf, Platform, Reader, RequestOf } from '@earshot/contract';
import type { Handler, Principal } from '../accounts/call.ts';
import type { ReadCoverage } from '../coverage/read-coverage.ts';
import type { Database, Sql } from '../engines/database.ts';
import { noSuchRule } from '../rules/refusals.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import { Failure } from '../runtime/failure.ts';
import type { Following } from './follow-matches.ts';
import type { ListNoticesOptions } from './list-notices.ts';
import type { MatchQuery } from './match-days.sql.ts';
import type { MatchReader } from './match-reader.sql.ts';
import {
  formatOffset,
  type Offset,
  parseOffset,
  refuseOvertaken,
  refuseRemoved,
  scopeOfReader,
  sealOffset,
  start,
} from './offset.ts';
import { readOrWait } from './read-or-wait.ts';
import { toAnswer } from './to-match.ts';

export interface ReadMatchesOptions extends ListNoticesOptions {
  readonly database: Database;
  readonly following: Following;
  readonly reader: Pick<MatchReader, 'overtaken'>;
  readonly rules: Pick<RuleStore, 'exists'>;
  readonly coverage: ReadCoverage;
  readonly contact: string;
}

type Request = RequestOf<'ReadMatches'>;

interface NamedReader {
  readonly reads: Reader['of'];
  readonly ruleId: string | null;
  readonly platform: Platform | null;
  /** An offset; null while nothing is acknowledged. The reader then starts at the oldest match. */
  readonly place: string | null;
}

/**
 * Returns what a named reader has not acknowledged. Reading does not move it: a client that crashes before it acknowledges gets the
 * same matches again.
 */
export function readMatches(options: ReadMatchesOptions): Handler<'ReadMatches'> {
  const { database, rules, cursors } = options;
  return async ({ principal, request, signal }) => {
    const { accountId } = principal;
    const reader =
      (await findReader(database.forAccount(accountId), accountId, request.reader)) ??
      (await createReader(options, principal, request));
    refuseOtherFilter(reader, request);
    const { ruleId, platform } = reader;
    const offset = reader.place === null ? null : parseOffset(reader.place);
    const waitMs = (request.wait_seconds ?? 0) * 1_000;
    if (reader.reads === 'notices')
      return await readNotices(options, { accountId, request, offset, waitMs, signal });
    if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw ruleIsGone();
    const query: MatchQuery = {
      accountId,
      ruleId,
      platform,
      since: null,
      until: null,
      order: 'oldest',
      from: offset?.position ?? null,
      limit: request.limit,
    };
    const scope = scopeOfReader(accountId, request.reader);
    const jumpedTo = offset ? await refuseOvertaken(options, query, scope, offset) : 0;
    const { entries, coverage } = await readOrWait(options, query, { waitMs, signal, jumpedTo });
    const last = entries.at(-1);
    return {
      ...toAnswer(entries),
      cursor: last ? sealOffset(cursors, scope, { ...(offset ?? start), position: last.position }) : null,
      coverage,
    };
  };
}

interface ReadNoticesOptions {
  readonly accountId: string;
  readonly request: Request;
  readonly offset: Offset | null;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** The same for a reader of notices. */
async function readNotices(
  { notices, followingNotices, cursors }: ReadMatchesOptions,
  { accountId, request, offset, waitMs, signal }: ReadNoticesOptions,
): Promise<AnswerOf<'ReadMatches'>> {
  const scope = scopeOfReader(accountId, request.reader);
  if (offset) refuseRemoved(cursors, scope, offset, (await notices.ends(accountId)).removedThrough);
  using follower = followingNotices.follow(accountId, offset?.position ?? 0);
  const found = await follower.next({ limit: request.limit, waitMs, signal });
  const last = found.at(-1);
  return {
    matches: [],
    notices: found.map(({ notice }) => notice),
    cursor: last ? sealOffset(cursors, scope, { ...(offset ?? start), position: last.position }) : null,
    coverage: null,
  };
}

async function findReader(
  sql: Pick<Sql, 'one'>,
  accountId: string,
  name: string,
): Promise<NamedReader | null> {
  return await sql.one<NamedReader>(
    'select reads, rule_id as "ruleId", platform, place from readers where account_id = $1 and name = $2',
    [accountId, name],
  );
}

/**
 * Creates the reader, or returns the one that a concurrent request has created under this name. Counted under the account's row lock,
 * so that two concurrent requests cannot both create the last one.
 */
async function createReader(
  { database, rules, following, notices, contact }: ReadMatchesOptions,
  principal: Principal,
  request: Request,
): Promise<NamedReader> {
  const { accountId } = principal;
  const { reader: name, of: reads } = request;
  const ruleId = request.rule_id ?? null;
  const platform = request.platform ?? null;
  if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw noSuchRule();
  const readersMax = principal.limits.readers;
  const now = async () =>
    reads === 'notices' ? (await notices.ends(accountId)).last : await following.now();
  const place = request.start === 'now' ? formatOffset({ ...start, position: await now() }) : null;
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
        `The account has ${used} of ${readersMax} readers. Delete one, or ask ${contact} for more.`,
        { details: { reason: 'plan_limit', limit: readersMax, used, contact } },
      );
    }
    await sql.run(
      'insert into readers (account_id, name, reads, rule_id, platform, place) values ($1, $2, $3, $4, $5, $6)',
      [accountId, name, reads, ruleId, platform, place],
    );
    return { reads, ruleId, platform, place };
  });
}

/** A request without a filter uses that of the reader, but must specify matches or notices. With another filter the reader would silently skip matches. */
function refuseOtherFilter({ reads, ruleId, platform }: NamedReader, request: Request): void {
  const sameRule = request.rule_id === undefined || request.rule_id === ruleId;
  if (reads === request.of && sameRule && (request.platform === undefined || request.platform === platform))
    return;
  throw new Failure(
    'already_exists',
    'The reader has another filter, see details.reader. Choose another name, or omit the filter.',
    { details: { reader: { of: reads, rule_id: ruleId, platform } } },
  );
}

function ruleIsGone(): Failure {
  return new Failure(
    'failed_precondition',
    'The rule of this reader was deleted, with its matches. Delete the reader.',
    { details: { reason: 'rule_deleted' } },
  );
}
