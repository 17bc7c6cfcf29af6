import type { AnswerOf, Platform, Reader, RelevanceFilter, RequestOf } from '@earshot/contract';
import type { Handler, Principal } from '../accounts/call.ts';
import { lockAccount } from '../accounts/change.ts';
import type { ReadCoverage } from '../coverage/read-coverage.ts';
import type { Database, Sql } from '../engines/database.ts';
import { noSuchRule } from '../rules/refusals.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import { Failure } from '../runtime/failure.ts';
import type { Following, ReaderQuery } from './follow-matches.ts';
import type { ListNoticesOptions } from './list-notices.ts';
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
  startAt,
  toStoryRange,
} from './offset.ts';
import { readOrWait } from './read-or-wait.ts';
import { type LogEntry, toAnswer } from './to-match.ts';
import type { Views } from './views.ts';

export interface ReadMatchesOptions extends ListNoticesOptions {
  readonly database: Database;
  readonly following: Following;
  readonly reader: Pick<MatchReader, 'overtaken'>;
  readonly rules: Pick<RuleStore, 'exists'>;
  readonly coverage: ReadCoverage;
  readonly contact: string;
  readonly views: Pick<Views, 'view'>;
}

type Request = RequestOf<'ReadMatches'>;

interface NamedReader {
  readonly reads: Reader['of'];
  readonly ruleId: string | null;
  readonly platform: Platform | null;
  readonly relevance: RelevanceFilter;
  /** Null: every match. */
  readonly grouping: Reader['group'];
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
    const { ruleId, platform, relevance, grouping } = reader;
    const offset = reader.place === null ? null : parseOffset(reader.place);
    const waitMs = (request.wait_seconds ?? 0) * 1_000;
    if (reader.reads === 'notices')
      return await readNotices(options, { accountId, request, offset, waitMs, signal });
    if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw ruleIsGone();
    const query: ReaderQuery = {
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
    const isGrouped = grouping !== null;
    const stories = isGrouped ? toStoryRange(query, offset) : null;
    const view = { relevance, hidden: 'exclude', waits: true, stories } as const;
    const viewOf = (entries: readonly LogEntry[]) =>
      options.views.view(accountId, entries, { view, marks: true });
    const found = await readOrWait(options, query, { waitMs, signal, jumpedTo, viewOf, isGrouped });
    const { entries, hidden, through: position, coverage } = found;
    return {
      ...toAnswer(entries, hidden),
      cursor: position === null ? null : sealOffset(cursors, scope, { ...(offset ?? start), position }),
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
    'select reads, rule_id as "ruleId", platform, relevance, grouping, place from readers where account_id = $1 and name = $2',
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
  const relevance = request.relevance ?? 'all';
  const grouping = request.group ?? null;
  if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw noSuchRule();
  const readersMax = principal.limits.readers;
  const now = async () =>
    reads === 'notices' ? (await notices.ends(accountId)).last : await following.now();
  const place = request.start === 'now' ? formatOffset(startAt(await now(), grouping !== null)) : null;
  return await database.forAccount(accountId).transaction(async (sql) => {
    await lockAccount(sql, accountId);
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
      `insert into readers (account_id, name, reads, rule_id, platform, relevance, grouping, place)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [accountId, name, reads, ruleId, platform, relevance, grouping, place],
    );
    return { reads, ruleId, platform, relevance, grouping, place };
  });
}

/** A request without a filter uses that of the reader, but must specify matches or notices. With another filter the reader would silently skip matches. */
function refuseOtherFilter(reader: NamedReader, request: Request): void {
  const { reads, ruleId, platform, relevance, grouping } = reader;
  const isSame =
    reads === request.of &&
    [ruleId, undefined].includes(request.rule_id) &&
    [platform, undefined].includes(request.platform) &&
    [relevance, undefined].includes(request.relevance) &&
    [grouping, undefined].includes(request.group);
  if (isSame) return;
  throw new Failure(
    'already_exists',
    'The reader has another filter, see details.reader. Choose another name, or omit the filter.',
    { details: { reader: { of: reads, rule_id: ruleId, platform, relevance, group: grouping } } },
  );
}

function ruleIsGone(): Failure {
  return new Failure(
    'failed_precondition',
    'The rule of this reader was deleted, with its matches. Delete the reader.',
    { details: { reason: 'rule_deleted' } },
  );
}
