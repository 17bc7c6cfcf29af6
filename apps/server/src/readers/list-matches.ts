import type { RequestOf } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import type { ReadCoverage } from '../coverage/read-coverage.ts';
import type { Database } from '../engines/database.ts';
import { findMatches } from '../relevance/relevance.sql.ts';
import { noSuchRule } from '../rules/refusals.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import type { CursorScope, Cursors } from '../runtime/cursor.ts';
import { positionOfStory } from '../runtime/ids.ts';
import { noSuchStory } from '../stories/refusals.ts';
import { readStory, type StoryRange } from '../stories/story-reader.sql.ts';
import type { Following, ReaderQuery } from './follow-matches.ts';
import { markStory } from './group-stories.ts';
import type { MatchReader } from './match-reader.sql.ts';
import {
  boundsOf,
  type Offset,
  openOffset,
  refuseOvertaken,
  scopeOfView,
  sealOffset,
  start,
} from './offset.ts';
import { type CoveredPage, readOrWait, searchPage, type ViewOf } from './read-or-wait.ts';
import { type LogEntry, toAnswer } from './to-match.ts';
import type { Views } from './views.ts';

export interface ListMatchesOptions {
  readonly database: Pick<Database, 'forAccount'>;
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
    const opened = request.cursor === undefined ? null : openOffset(cursors, scope, request.cursor);
    const offset = opened ?? (await firstOffset(options, request));
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
    const jumpedTo = opened && follows ? await refuseOvertaken(options, query, scope, opened) : 0;
    const waitMs = (request.wait_seconds ?? 0) * 1_000;
    const { relevance = 'all', hidden: shows = 'exclude' } = request;
    const stories = request.group === undefined ? null : rangeOf(query, offset);
    const view = { relevance, hidden: shows, waits: follows, stories };
    const viewOf = (entries: readonly LogEntry[]) =>
      options.views.view(accountId, entries, { view, marks: true });
    const isGrouped = stories !== null;
    const found =
      request.story_id !== undefined
        ? await readMembers(options, { ...query, storyId: request.story_id }, viewOf)
        : request.query === undefined
          ? await readOrWait(options, query, { waitMs, signal, jumpedTo, viewOf, isGrouped })
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

/** A list of stories with the newest first ends where it began, so that a story that grows in between is not lost. */
async function firstOffset(
  { following }: ListMatchesOptions,
  { group, order }: Request,
): Promise<Offset | null> {
  if (group === undefined) return null;
  if (order === 'oldest') return { ...start, bound: 0 };
  const bound = await following.now();
  return { ...start, position: bound + 1, bound };
}

function rangeOf(query: ReaderQuery, offset: Offset | null): StoryRange {
  const { ruleId, platform, since, until, order } = query;
  const { after, through } = boundsOf(order, offset);
  return { ruleIds: ruleId === null ? null : [ruleId], platform, since, until, order, after, through };
}

/** The matches of a story, each with the reason why it is in it. */
async function readMembers(
  { database, following }: ListMatchesOptions,
  { storyId, ...query }: ReaderQuery & { readonly storyId: string },
  viewOf: ViewOf,
): Promise<CoveredPage> {
  const { accountId, order, from, limit } = query;
  const position = positionOfStory(storyId);
  if (position === null) throw noSuchStory();
  const whole = rangeOf(query, null);
  const range =
    order === 'newest'
      ? { ...whole, through: from === null ? whole.through : from - 1 }
      : { ...whole, after: from ?? 0 };
  const sql = database.forAccount(accountId);
  const page = await readStory(sql, accountId, position, { range, limit });
  if (page === null || (page.isAlone && (await findMatches(sql, accountId, [position])).length === 0))
    throw noSuchStory();
  const { entries, more } = await following.page({ ...query, positions: page.positions });
  const matches = entries.filter((one) => 'match' in one);
  const seen = await viewOf(await markStory(database, accountId, matches, whole));
  return { ...seen, more: more || page.more, coverage: null };
}

function scopeOf(accountId: string, request: Request): CursorScope {
  const { rule_id, platform, from, to, order, query, relevance = 'all', hidden = 'exclude' } = request;
  const { group, story_id } = request;
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
      ...(story_id === undefined ? [] : ['story', story_id]),
      ...scopeOfView({ relevance, hidden, stories: group !== undefined }),
    ],
  };
}
