import type { Match, Removal } from '@earshot/contract';
import type { Call, EventStream, ServerEvent } from '../accounts/call.ts';
import type { CountStream } from '../accounts/rate-limits.ts';
import { noSuchRule } from '../rules/refusals.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import type { CursorScope, Cursors } from '../runtime/cursor.ts';
import { Failure } from '../runtime/failure.ts';
import { pause } from '../runtime/worker.ts';
import { type Following, LogWentBack } from './follow-matches.ts';
import type { MatchReader } from './match-reader.sql.ts';
import {
  formatOffset,
  type Offset,
  openOffset,
  refuseOvertaken,
  scopeOfFilter,
  sealOffset,
  start,
} from './offset.ts';
import { type Followed, jsonOf } from './to-match.ts';

/** Small, because each stream whose client does not read holds this many in memory. */
const matchesAtOnceMax = 25;
const databaseAgainMs = 1_000;

export interface StreamMatchesOptions {
  readonly following: Following;
  readonly reader: Pick<MatchReader, 'overtaken'>;
  readonly rules: Pick<RuleStore, 'exists'>;
  readonly cursors: Cursors;
  readonly countStream: CountStream;
}

/** Matches as they are stored and removed, from a cursor or from now on. */
export function streamMatches(options: StreamMatchesOptions) {
  const { following, rules, cursors, countStream } = options;
  const toEvent = createEventMaker(cursors);
  return async ({ principal, request, lastEventId }: Call<'StreamMatches'>): Promise<EventStream> => {
    const { accountId } = principal;
    const ruleId = request.rule_id ?? null;
    const platform = request.platform ?? null;
    using stack = new DisposableStack();
    stack.use(countStream(principal));
    if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw noSuchRule();
    const filter = { accountId, ruleId, platform };
    const scope = scopeOfFilter(filter);
    // A client that reconnects repeats its first URL, and with it the cursor from which it once began.
    const cursor = lastEventId ?? request.cursor;
    const offset =
      cursor === undefined
        ? { ...start, position: await following.now() }
        : openOffset(cursors, scope, cursor);
    const jumpedTo = cursor === undefined ? 0 : await refuseOvertaken(options, filter, scope, offset);
    const follower = stack.use(following.follow(filter, offset.position, jumpedTo));
    const open = stack.move();
    return {
      nextEvents: createNextEvents(sealOffset(cursors, scope, offset), async (waitMs, signal) => {
        const entries = await follower.next({ limit: matchesAtOnceMax, waitMs, signal });
        return entries.map((followed) => toEvent(scope, offset, followed));
      }),
      [Symbol.dispose]: () => open.dispose(),
    };
  };
}

/** What every stream has in common. A client that is disconnected before the first event must know where to continue. */
export function createNextEvents(
  firstId: string,
  next: EventStream['nextEvents'],
): EventStream['nextEvents'] {
  let opened = false;
  return async (waitMs, signal) => {
    if (!opened) {
      opened = true;
      return [{ id: firstId, event: 'open', data: '{}' }];
    }
    try {
      return await next(waitMs, signal);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'unavailable' || error instanceof LogWentBack)
        throw error;
      // While the database is down, ending the stream would only make the client reconnect and fail again.
      await pause(Math.min(databaseAgainMs, waitMs), signal);
      return [];
    }
  };
}

/** Streams with the same filter share one event object, and so one text and one signature, however many they are. */
function createEventMaker(cursors: Cursors) {
  const made = new WeakMap<Match | Removal, Map<string, ServerEvent>>();
  return (scope: CursorScope, before: Offset, followed: Followed): ServerEvent => {
    const told = 'match' in followed ? followed.match : followed.removal;
    const events = made.get(told) ?? new Map<string, ServerEvent>();
    made.set(told, events);
    const offset = { ...before, position: followed.position };
    const key = `${scope.filter.join(' ')} ${formatOffset(offset)}`;
    const known = events.get(key);
    if (known) return known;
    const id = sealOffset(cursors, scope, offset);
    const event =
      'match' in followed
        ? { id, event: 'match', data: jsonOf(followed.match) }
        : { id, event: 'removed', data: JSON.stringify(followed.removal) };
    events.set(key, event);
    return event;
  };
}
