import type { RequestOf } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import type { ReadCoverage } from '../coverage/read-coverage.ts';
import { noSuchRule } from '../rules/refusals.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import type { CursorScope, Cursors } from '../runtime/cursor.ts';
import type { Following, ReaderQuery } from './follow-matches.ts';
import type { MatchReader } from './match-reader.sql.ts';
import { openOffset, refuseOvertaken, scopeOfView, sealOffset, start } from './offset.ts';
import { readOrWait, searchPage } from './read-or-wait.ts';
import { type LogEntry, toAnswer } from './to-match.ts';
import type { Views } from './views.ts';

export interface ListMatchesOptions {
  readonly reader: Pick<MatchReader, 'overtaken'>;
  readonly following: Following;
  readonly rules: Pick<RuleStore, 'exists'>;
  readonly coverage: ReadCoverage;
  readonly cursors: Cursors;
  readonly views: Pick<Views, 'view'>;
}

type Request = RequestOf<'ListMatches'>;

/** A page of the match log in either direction. With `wait_seconds` it waits for the first match or removal. */
export function listMatches(options: ListMatchesOptions): Handler<'ListMatches'> {
  const { rules, cursors } = options;
  return async ({ principal, request, signal }) => {
    const { accountId } = principal;
    const ruleId = request.rule_id ?? null;
    const platform = request.platform ?? null;
    if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw noSuchRule();
    const scope = scopeOf(accountId, request);
    const offset = request.cursor === undefined ? null : openOffset(cursors, scope, request.cursor);
    const query: ReaderQuery = {
      accountId,
      ruleId,
      platform,
      since: request.from === undefined ? null : new Date(request.from),
      until: request.to === undefined ? null : new Date(request.to),
      order: request.order,
      from: offset?.position ?? null,
      limit: request.limit,
    };
    const follows = request.order === 'oldest';
    const jumpedTo = offset && follows ? await refuseOvertaken(options, query, scope, offset) : 0;
    const waitMs = (request.wait_seconds ?? 0) * 1_000;
    const { relevance = 'all', hidden: shows = 'exclude' } = request;
    const view = { relevance, hidden: shows, waits: follows };
    const viewOf = (entries: readonly LogEntry[]) =>
      options.views.view(accountId, entries, { view, marks: true });
    const found =
      request.query === undefined
        ? await readOrWait(options, query, { waitMs, signal, jumpedTo, viewOf })
        : await searchPage(options, query, { text: request.query, viewOf });
    const { entries, hidden, more, coverage, through } = found;
    const position = through ?? offset?.position ?? 0;
    const goesOn = follows || more;
    return {
      ...toAnswer(entries, hidden),
      next_cursor: goesOn ? sealOffset(cursors, scope, { ...(offset ?? start), position }) : null,
      coverage,
    };
  };
}

function scopeOf(accountId: string, request: Request): CursorScope {
  const { rule_id, platform, from, to, order, query, relevance = 'all', hidden = 'exclude' } = request;
  return {
    accountId,
    filter: [
      'matches',
      rule_id ?? null,
      platform ?? null,
      from ?? null,
      to ?? null,
      order,
      ...(query === undefined ? [] : [query]),
      ...scopeOfView({ relevance, hidden }),
    ],
  };
}
