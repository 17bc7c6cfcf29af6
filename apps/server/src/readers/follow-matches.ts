import type { Match, Platform } from '@earshot/contract';
import type { ParsedRules } from '../language/explain-match.ts';
import { createConcurrencyLimit, createConcurrencyLimits } from '../runtime/concurrency.ts';
import { Failure } from '../runtime/failure.ts';
import type { MatchQuery } from './match-days.sql.ts';
import type { MatchReader } from './match-reader.sql.ts';
import type { MatchTail } from './match-tail.ts';
import { type FollowedMatch, toFollowed } from './to-match.ts';

/** Queries at once of all readers that are behind: thousands that reconnect together must not overload the database. */
const readsAtOnceMax = 6;

export interface MatchFilter {
  readonly accountId: string;
  readonly ruleId: string | null;
  readonly platform: Platform | null;
  readonly since?: Date | null;
  readonly until?: Date | null;
}

interface FollowedPage {
  readonly matches: FollowedMatch[];
  readonly more: boolean;
}

export interface Follower extends Disposable {
  /**
   * The next matches in the order of the log, fewer than `limit` when they are large; waits for the first. Empty after
   * `waitMs`, or when the signal is aborted. Throws LogWentBack when that happened behind it.
   */
  next(options: { limit: number; waitMs: number; signal: AbortSignal }): Promise<FollowedMatch[]>;
}

/** Whoever comes back with the cursor that it has is told whether it is concerned, and where to go on (offset.ts). */
export class LogWentBack extends Failure {
  constructor() {
    super('unavailable', 'The match log was just restored to an earlier state: ask again with your cursor.');
    this.name = 'LogWentBack';
  }
}

export type Following = ReturnType<typeof createFollowing>;

/**
 * What lists that wait, streams and named readers have in common. A follower that is up to date reads from the node's
 * shared tail and does not query the database; one that is behind reads pages for itself until it has caught up.
 */
export function createFollowing(options: {
  readonly tail: MatchTail;
  readonly reader: Pick<MatchReader, 'read'>;
  readonly parsedRules: ParsedRules;
}) {
  const { tail, reader, parsedRules } = options;
  const limited = createConcurrencyLimit(readsAtOnceMax);
  // A page may be 1 MiB, and reading and explaining it takes its time from all others: one of each account at a time.
  const inTurnOfAccount = createConcurrencyLimits(1);
  const read = async (query: MatchQuery): Promise<FollowedPage> => {
    const { matches, more } = await reader.read(query);
    // The log may have gone back since its cursor was checked, or since the tail was last read.
    const [before, first] = [query.order === 'oldest' ? query.from : null, matches.at(0)];
    if (before !== null && first && (await tail.wentBackBetween(before, first.position)) !== null) {
      throw new LogWentBack();
    }
    return { matches: await toFollowed(parsedRules, matches), more };
  };
  return {
    /** One page, without waiting for matches. */
    page: (query: MatchQuery) => inTurnOfAccount(query.accountId, () => read(query)),
    /** The position at which a reader begins that wants only what is new. */
    now: () => tail.end(),
    /**
     * Begins after this position. `jumpedTo` is the last one to which the log is known to have jumped: until the tail has
     * read beyond it, it may keep matches that were lost since.
     */
    follow(filter: MatchFilter, position: number, jumpedTo = 0): Follower {
      const { since = null, until = null } = filter;
      const member = tail.join(filter);
      let through = position;
      const isTailCurrent = () => tail.position() >= jumpedTo;

      const readBehind = async (limit: number) => {
        const visible = isTailCurrent() ? tail.position() : 0;
        const query = { ...filter, since, until, order: 'oldest', from: through, limit } as const;
        const { matches, more } = await read(query);
        const last = matches.at(-1)?.position ?? through;
        // The last page has shown everything that was visible when it was asked for.
        through = more ? last : Math.max(last, visible);
        return matches;
      };

      const look = async (limit: number): Promise<FollowedMatch[]> => {
        if (tail.isLost(through)) throw new LogWentBack();
        const accepts = (match: Match) => isWanted(filter, match);
        const fromTail = isTailCurrent() ? member.after(through, { limit, accepts }) : null;
        if (!fromTail) {
          return await inTurnOfAccount(filter.accountId, () => limited(() => readBehind(limit)));
        }
        through = fromTail.through;
        return fromTail.matches;
      };

      return {
        async next({ limit, waitMs, signal }) {
          const deadline = performance.now() + waitMs;
          for (;;) {
            const found = await look(limit);
            const leftMs = deadline - performance.now();
            if (found.length > 0 || leftMs <= 0 || signal.aborted) return found;
            // Returns at once if the tail has grown since the follower joined it.
            await member.wait(leftMs, signal);
          }
        },
        [Symbol.dispose]: () => member[Symbol.dispose](),
      };
    },
  };
}

function isWanted({ platform, since, until }: MatchFilter, match: Match): boolean {
  if (platform !== null && match.platform !== platform) return false;
  const createdAt = Date.parse(match.created_at);
  if (since && createdAt < since.getTime()) return false;
  return !until || createdAt < until.getTime();
}
