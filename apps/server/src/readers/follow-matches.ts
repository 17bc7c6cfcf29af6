import { onEachPlatform, type Platform } from '@earshot/contract';
import type { ParsedRules } from '../language/explain-match.ts';
import { createConcurrencyLimit, createConcurrencyLimits } from '../runtime/concurrency.ts';
import { Failure } from '../runtime/failure.ts';
import type { MatchQuery } from './match-days.sql.ts';
import type { MatchReader } from './match-reader.sql.ts';
import type { MatchTail } from './match-tail.ts';
import { searchMatches } from './search-matches.ts';
import { type LogEntry, toEntries, toLog } from './to-match.ts';

/** Concurrent queries of all readers that are behind: thousands that reconnect together must not overload the database. */
const readsAtOnceMax = 6;

export interface MatchFilter {
  readonly accountId: string;
  readonly ruleId: string | null;
  readonly platform: Platform | null;
  readonly since?: Date | null;
  readonly until?: Date | null;
}

/** What a reader requests: matches of one rule, or of all. */
export interface ReaderQuery extends Omit<MatchQuery, 'ruleIds'> {
  readonly ruleId: string | null;
}

function toMatchQuery({ ruleId, ...query }: ReaderQuery): MatchQuery {
  return { ...query, ruleIds: ruleId === null ? null : [ruleId] };
}

interface LogPage {
  readonly entries: readonly LogEntry[];
  readonly more: boolean;
}

export interface Follower extends Disposable {
  /**
   * Returns the next matches and removals in the order of the log; fewer than `limit` matches if they are large. A promise if the
   * follower is behind the tail. Followers that are up to date and have the same filter get the same array. Throws LogRestored if the
   * log was restored to a position before the follower's.
   */
  take(limit: number): readonly LogEntry[] | Promise<readonly LogEntry[]>;
  /** Registers a callback for when there may be more to take. */
  readonly onMore: (wake: () => void) => void;
  /**
   * Like `take`, but waits for the first one. Empty after `waitMs`, or if the signal is aborted. If fewer than `limit` are in the tail,
   * it waits for more until `lingerMs` after the call.
   */
  next(options: NextOptions): Promise<readonly LogEntry[]>;
}

interface NextOptions {
  readonly limit: number;
  readonly waitMs: number;
  readonly lingerMs?: number;
  readonly signal: AbortSignal;
}

/** The client sends the request again with its cursor, and the answer is then specific to the cursor (offset.ts). */
export class LogRestored extends Failure {
  constructor() {
    super(
      'unavailable',
      'The match log was restored to an earlier state. Send the request again with your cursor.',
      {
        details: { reason: 'restored' },
      },
    );
    this.name = 'LogRestored';
  }
}

export type Following = ReturnType<typeof createFollowing>;

/**
 * The common part of lists that wait, streams and named readers. A follower that is up to date reads from the node's shared tail
 * and does not query the database. A follower that is behind reads pages until it has caught up.
 */
export function createFollowing(options: {
  readonly tail: MatchTail;
  readonly reader: Pick<MatchReader, 'read'>;
  readonly parsedRules: ParsedRules;
}) {
  const { tail, reader, parsedRules } = options;
  const limited = createConcurrencyLimit(readsAtOnceMax);
  // A page may be 1 MiB, and reading and explaining it delays all others: so each account reads one at a time.
  const inTurnOfAccount = createConcurrencyLimits(1);
  const read = async (query: ReaderQuery): Promise<LogPage> => {
    const { matches, removals, more } = await reader.read(toMatchQuery(query));
    // The log may have gone back since the cursor was checked, or since the tail was last read.
    const before = query.order === 'oldest' ? query.from : null;
    const first = Math.min(...[...matches.slice(0, 1), ...removals.slice(0, 1)].map((one) => one.position));
    if (before !== null && first < Infinity && (await tail.restoredBetween(before, first)) !== null) {
      throw new LogRestored();
    }
    return { entries: await toLog(parsedRules, { matches, removals }), more };
  };
  return {
    /** Returns one page without waiting for matches. */
    page: (query: ReaderQuery) => inTurnOfAccount(query.accountId, () => read(query)),
    /** Returns the next matches as they are stored, for files. */
    stored: (query: MatchQuery) => inTurnOfAccount(query.accountId, () => limited(() => reader.read(query))),
    /** Returns the newest matches that contain the words. */
    search: (query: ReaderQuery, text: string) =>
      inTurnOfAccount(query.accountId, async () => {
        const { matches, ...found } = await searchMatches(reader.read, toMatchQuery(query), text);
        return { ...found, entries: await toEntries(parsedRules, matches) };
      }),
    /** The position at which a reader starts that wants only new matches. */
    now: () => tail.end(),
    /**
     * Starts after this position. `jumpedTo` is the last position to which the log is known to have jumped. Until the tail has read
     * beyond it, the tail may have matches that were lost since.
     */
    follow(filter: MatchFilter, position: number, jumpedTo = 0): Follower {
      const { since = null, until = null } = filter;
      const member = tail.join(filter);
      const accepts = acceptedBy(filter);
      let through = position;
      const isTailCurrent = () => tail.position() >= jumpedTo;

      const readBehind = async (limit: number) => {
        const visible = isTailCurrent() ? tail.position() : 0;
        const query = { ...filter, since, until, order: 'oldest', from: through, limit } as const;
        const { entries, more } = await read(query);
        const last = entries.at(-1)?.position ?? through;
        // The last page has everything that was visible when it was requested.
        through = more ? last : Math.max(last, visible);
        return entries;
      };

      const fromTailOf = (limit: number) =>
        isTailCurrent() ? member.after(through, { limit, accepts }) : null;

      const take = (limit: number): readonly LogEntry[] | Promise<readonly LogEntry[]> => {
        if (tail.isLost(through)) throw new LogRestored();
        const fromTail = fromTailOf(limit);
        if (!fromTail) return inTurnOfAccount(filter.accountId, () => limited(() => readBehind(limit)));
        through = fromTail.through;
        return fromTail.entries;
      };

      return {
        take,
        onMore: member.onRing,
        async next({ limit, waitMs, lingerMs = 0, signal }) {
          const calledAt = performance.now();
          const until = calledAt + waitMs;
          const lingersUntil = calledAt + Math.min(lingerMs, waitMs);
          const leftMs = (end: number) => end - performance.now();
          const isShort = () => {
            const page = fromTailOf(limit);
            return page !== null && page.entries.length > 0 && !page.isFull;
          };
          for (;;) {
            const lingers = leftMs(lingersUntil) > 0 && !signal.aborted && isShort();
            const found = lingers ? [] : await take(limit);
            if (found.length > 0 || leftMs(until) <= 0 || signal.aborted) return found;
            // Returns at once if the tail has grown since the follower joined it.
            await member.wait(leftMs(lingers ? lingersUntil : until), signal);
          }
        },
        [Symbol.dispose]: () => member[Symbol.dispose](),
      };
    },
  };
}

type Accepts = (one: LogEntry) => boolean;

const all: Accepts = () => true;
const ofPlatform = onEachPlatform<Accepts>(
  (platform) => (one) => ('match' in one ? one.match.platform : one.platform) === platform,
);

/** The same function for the same platform, so that the tail recognizes equal filters. */
function acceptedBy({ platform, since, until }: MatchFilter): Accepts {
  const isOfPlatform = platform === null ? all : ofPlatform[platform];
  if (!since && !until) return isOfPlatform;
  return (one) => isOfPlatform(one) && isWithin(one, since, until);
}

/** The time range is that of matches. A client that got a match must get its removal, whenever that happens. */
function isWithin(one: LogEntry, since?: Date | null, until?: Date | null): boolean {
  if (!('match' in one)) return true;
  const createdAt = Date.parse(one.match.created_at);
  if (since && createdAt < since.getTime()) return false;
  return !until || createdAt < until.getTime();
}
