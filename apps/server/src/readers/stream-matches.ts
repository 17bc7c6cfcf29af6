import type { Match } from '@earshot/contract';
import type { Call } from '../accounts/call.ts';
import type { KeyWatch } from '../accounts/key-watch.ts';
import type { TakeStreamPlace } from '../accounts/stream-limit.ts';
import { noSuchRule } from '../rules/refusals.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import type { CursorScope, Cursors } from '../runtime/cursor.ts';
import type { EventStream, ServerEvent } from '../runtime/event-stream.ts';
import { Failure } from '../runtime/failure.ts';
import { pause } from '../runtime/pause.ts';
import type { Follower, Following } from './follow-matches.ts';
import type { MatchReader } from './match-reader.ts';
import {
  moved,
  openPlace,
  type Place,
  refuseWhatIsRemoved,
  scopeOfFilter,
  sealPlace,
  writePlace,
} from './place.ts';
import { type FollowedMatch, jsonOf } from './to-match.ts';

/** Few, because each stream that does not get on holds as many in memory. */
const matchesAtOnceMax = 25;
const databaseAgainMs = 1_000;

export interface StreamMatchesOptions {
  readonly following: Following;
  readonly reader: Pick<MatchReader, 'removedThrough'>;
  readonly rules: Pick<RuleStore, 'exists'>;
  readonly cursors: Cursors;
  readonly keyWatch: KeyWatch;
  readonly takePlace: TakeStreamPlace;
}

/** Matches as they come, from a cursor on or from now on. */
export function streamMatches(options: StreamMatchesOptions) {
  const { following, rules, cursors, keyWatch, takePlace } = options;
  const toEvent = createEventMaker(cursors);
  return async ({ principal, request, lastEventId }: Call<'StreamMatches'>): Promise<EventStream> => {
    const { accountId, keyId } = principal;
    const ruleId = request.rule_id ?? null;
    const platform = request.platform ?? null;
    using stack = new DisposableStack();
    stack.use(takePlace(principal));
    if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw noSuchRule();
    const filter = { accountId, ruleId, platform };
    const scope = scopeOfFilter(filter);
    // A client that reconnects sends its first address again, and with it the cursor it once began at.
    const cursor = lastEventId ?? request.cursor;
    const place =
      cursor === undefined ? moved(null, await following.now()) : openPlace(cursors, scope, cursor);
    if (cursor !== undefined) await refuseWhatIsRemoved(options, filter, scope, place);
    const follower = stack.use(following.follow(filter, place.position));
    const { ended } = stack.use(keyWatch.watch(keyId));
    const open = stack.move();
    return {
      ended,
      nextEvents: createNextEvents({ follower, place, scope, cursors, toEvent }),
      [Symbol.dispose]: () => open.dispose(),
    };
  };
}

interface Streaming {
  readonly follower: Follower;
  readonly place: Place;
  readonly scope: CursorScope;
  readonly cursors: Cursors;
  readonly toEvent: ReturnType<typeof createEventMaker>;
}

function createNextEvents({
  follower,
  place,
  scope,
  cursors,
  toEvent,
}: Streaming): EventStream['nextEvents'] {
  let opened = false;
  return async (waitMs, signal) => {
    if (!opened) {
      opened = true;
      // Who is cut off before the first match must know where to go on.
      return [{ id: sealPlace(cursors, scope, place), event: 'open', data: '{}' }];
    }
    try {
      const matches = await follower.next({ limit: matchesAtOnceMax, waitMs, signal });
      return matches.map((followed) => toEvent(scope, place, followed));
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'unavailable') throw error;
      // The database is away: a stream that ends would only come back to find the same.
      await pause(Math.min(databaseAgainMs, waitMs), signal);
      return [];
    }
  };
}

/** The same event for everybody who follows the same, so that thousands of streams share one text and one signature. */
function createEventMaker(cursors: Cursors) {
  const made = new WeakMap<Match, Map<string, ServerEvent>>();
  return (scope: CursorScope, before: Place, { position, match }: FollowedMatch): ServerEvent => {
    const events = made.get(match) ?? new Map<string, ServerEvent>();
    made.set(match, events);
    const place = moved(before, position);
    const key = `${scope.filter.join(' ')} ${writePlace(place)}`;
    const known = events.get(key);
    if (known) return known;
    const id = sealPlace(cursors, scope, place);
    const event = { id, event: 'match', data: jsonOf(match) };
    events.set(key, event);
    return event;
  };
}
