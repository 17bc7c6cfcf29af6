import type { Match, Platform } from '@earshot/contract';
import type { ParsedRules } from '../language/explain-match.ts';
import { createConcurrencyLimit, createConcurrencyLimits } from '../runtime/concurrency.ts';
import type { MatchQuery, MatchReader } from './match-reader.sql.ts';
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
  /** The next matches in the order of the log, fewer than `limit` when they are large; waits for the first. Empty after `waitMs`, or when the signal is aborted. */
  next(options: { limit: number; waitMs: number; signal: AbortSignal }): Promise<FollowedMatch[]>;
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
    return { matches: await toFollowed(parsedRules, matches), more };
  };
  return {
    /** One page, without waiting for matches. */
    page: (query: MatchQuery) => inTurnOfAccount(query.accountId, () => read(query)),
    /** The position at which a reader begins that wants only what is new. */
    now: () => tail.end(),
    /** Begins after this position. */
    follow(filter: MatchFilter, position: number): Follower {
      const { since = null, until = null } = filter;
      const member = tail.join(filter);
      let through = position;

      const readBehind = async (limit: number) => {
        const visible = tail.position();
        const query = { ...filter, since, until, order: 'oldest', from: through, limit } as const;
        const { matches, more } = await read(query);
        const last = matches.at(-1)?.position ?? through;
        // The last page has shown everything that was visible when it was asked for.
        through = more ? last : Math.max(last, visible);
        return matches;
      };

      const look = async (limit: number): Promise<FollowedMatch[]> => {
        const fromTail = member.after(through, { limit, accepts: (match) => isWanted(filter, match) });
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
