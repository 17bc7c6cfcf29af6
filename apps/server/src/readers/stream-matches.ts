import type { Call, EventBatch, EventStream, ServerEvent } from '../accounts/call.ts';
import type { CountStream } from '../accounts/rate-limits.ts';
import { noSuchRule } from '../rules/refusals.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import type { CursorScope, Cursors } from '../runtime/cursor.ts';
import { Failure } from '../runtime/failure.ts';
import { pause } from '../runtime/worker.ts';
import { type Following, LogRestored } from './follow-matches.ts';
import type { MatchReader } from './match-reader.sql.ts';
import {
  type Offset,
  openOffset,
  refuseOvertaken,
  scopeOfFilter,
  sealOffset,
  startAt,
  toStoryRange,
} from './offset.ts';
import { jsonOf, type LogEntry, totalOf } from './to-match.ts';
import type { Viewed, Views } from './views.ts';

/** Small, because each stream whose client does not read holds this many in memory. */
const matchesAtOnceMax = 25;
const databaseAgainMs = 1_000;

export interface StreamMatchesOptions {
  readonly following: Following;
  readonly reader: Pick<MatchReader, 'overtaken'>;
  readonly rules: Pick<RuleStore, 'exists'>;
  readonly cursors: Cursors;
  readonly countStream: CountStream;
  readonly views: Pick<Views, 'view'>;
}

/** Streams matches and removals as they are stored, from a cursor or from now on. */
export function streamMatches(options: StreamMatchesOptions) {
  const { following, rules, cursors, countStream, views } = options;
  const eventsOf = createEventMaker(cursors);
  return async ({ principal, request, lastEventId }: Call<'StreamMatches'>): Promise<EventStream> => {
    const { accountId } = principal;
    const ruleId = request.rule_id ?? null;
    const platform = request.platform ?? null;
    using stack = new DisposableStack();
    stack.use(countStream(principal));
    if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw noSuchRule();
    const filter = { accountId, ruleId, platform };
    const isGrouped = request.group !== undefined;
    const shows = { relevance: request.relevance ?? 'all', hidden: 'exclude', waits: true } as const;
    const scope = scopeOfFilter(filter, { ...shows, stories: isGrouped });
    // A client that reconnects repeats its first URL, and with it the cursor with which it started.
    const cursor = lastEventId ?? request.cursor;
    const offset =
      cursor === undefined ? startAt(await following.now(), isGrouped) : openOffset(cursors, scope, cursor);
    const stories = isGrouped ? toStoryRange(filter, offset) : null;
    const view = { ...shows, stories };
    const jumpedTo = cursor === undefined ? 0 : await refuseOvertaken(options, filter, scope, offset);
    const follower = stack.use(following.follow(filter, offset.position, jumpedTo));
    const open = stack.move();
    const viewed = createViewedTake({
      take: () => follower.take(matchesAtOnceMax),
      viewOf: (entries) => views.view(accountId, entries, { view, marks: false }),
      onMore: follower.onMore,
    });
    const toEvents = (seen: Viewed) => eventsOf(seen, scope, offset);
    return {
      take: createTake(sealOffset(cursors, scope, offset), () => {
        const seen = viewed.take();
        return seen instanceof Promise ? seen.then(toEvents) : toEvents(seen);
      }),
      onMore: (wake) => viewed.onMore(wake),
      [Symbol.dispose]: () => {
        viewed[Symbol.dispose]();
        open.dispose();
      },
    };
  };
}

/** How often a stream checks for the verdict that it waits for. */
const verdictPollMs = 250;

/** What a stream shows of what it takes. Entries that wait for a verdict are kept, and those behind them. */
function createViewedTake({
  take,
  viewOf,
  onMore,
}: {
  readonly take: () => readonly LogEntry[] | Promise<readonly LogEntry[]>;
  readonly viewOf: (entries: readonly LogEntry[]) => Viewed | Promise<Viewed>;
  readonly onMore: (wake: () => void) => void;
}) {
  let waiting: readonly LogEntry[] = [];
  let wakeStream = () => {};
  let timer: NodeJS.Timeout | undefined;
  const keep = (entries: readonly LogEntry[], seen: Viewed): Viewed => {
    const { through, waitsUntil } = seen;
    waiting = waitsUntil ? entries.filter(({ position }) => through === null || position > through) : [];
    clearTimeout(timer);
    if (waitsUntil) timer = setTimeout(() => wakeStream(), verdictPollMs);
    return seen;
  };
  const show = (entries: readonly LogEntry[]): Viewed | Promise<Viewed> => {
    const seen = viewOf(entries);
    return seen instanceof Promise ? seen.then((done) => keep(entries, done)) : keep(entries, seen);
  };
  return {
    take(): Viewed | Promise<Viewed> {
      const entries = waiting.length > 0 ? waiting : take();
      return entries instanceof Promise ? entries.then(show) : show(entries);
    },
    onMore(wake: () => void): void {
      wakeStream = wake;
      onMore(wake);
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

/** The common part of all streams. A client that is disconnected before the first event needs a cursor to continue with. */
export function createTake(
  firstId: string,
  take: () => ReturnType<EventStream['take']>,
): EventStream['take'] {
  let opened = false;
  return (signal) => {
    if (!opened) {
      opened = true;
      return { events: [{ id: firstId, event: 'open', data: '{}' }] };
    }
    const taken = take();
    return taken instanceof Promise ? outlastOutages(taken, take, signal) : taken;
  };
}

/** If the database is down, ending the stream would only make the client reconnect and fail again. */
async function outlastOutages(
  first: Promise<EventBatch>,
  take: () => ReturnType<EventStream['take']>,
  signal: AbortSignal,
): Promise<EventBatch> {
  let taken: ReturnType<EventStream['take']> = first;
  for (;;) {
    try {
      return await taken;
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'unavailable' || error instanceof LogRestored)
        throw error;
      await pause(databaseAgainMs, signal);
      if (signal.aborted) return { events: [] };
      taken = take();
    }
  }
}

/** Streams with the same filter share their text and signature, however many they are. */
function createEventMaker(cursors: Cursors) {
  const made = new WeakMap<
    readonly LogEntry[],
    { readonly knownRemoved: number; readonly batch: EventBatch }
  >();
  return ({ entries, hidden, through }: Viewed, scope: CursorScope, offset: Offset): EventBatch => {
    const { knownRemoved } = offset;
    const known = made.get(entries);
    // One array has one filter, but the readers' knowledge of retention may differ.
    if (known?.knownRemoved === knownRemoved) return known.batch;
    const idOf = ({ position }: Pick<LogEntry, 'position'>) =>
      sealOffset(cursors, scope, { ...offset, position });
    const events = entries.map((followed) => toEvent(followed, idOf(followed)));
    if (through !== null && totalOf(hidden) > 0)
      events.push({ id: idOf({ position: through }), event: 'hidden', data: JSON.stringify(hidden) });
    const batch = { events };
    if (entries.length > 0) made.set(entries, { knownRemoved, batch });
    return batch;
  };
}

function toEvent(followed: LogEntry, id: string): ServerEvent {
  return 'match' in followed
    ? { id, event: 'match', data: jsonOf(followed) }
    : { id, event: 'removed', data: JSON.stringify(followed.removal) };
}
