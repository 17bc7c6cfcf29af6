import type { Coverage } from '@earshot/contract';
import type { ReadCoverage } from '../coverage/read-coverage.ts';
import type { Following } from './follow-matches.ts';
import type { MatchQuery } from './match-days.sql.ts';
import type { LogEntry } from './to-match.ts';

export interface WaitOptions {
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** The last position to which the log is known to have jumped. */
  readonly jumpedTo: number;
}

interface CoveredPage {
  readonly entries: readonly LogEntry[];
  /** False if these are all. */
  readonly more: boolean;
  /** Set if more was read than the entries: the last position. Null: there was nothing. */
  readonly through?: number | null;
  /** Null unless a rule or a platform was requested. */
  readonly coverage: Coverage | null;
}

/**
 * An answer with fewer matches than requested is sent this long after the request at the earliest. Otherwise a client that follows many
 * matches would use up its requests: one for each commit.
 */
const lingerMs = 200;

/**
 * A page of the match log, after waiting for the first match or removal if requested. An empty result always comes from the log itself,
 * read after its coverage. The tail is behind, and a match that is stored between the two reads would be missing from a result that is
 * reported as complete.
 */
export async function readOrWait(
  {
    following,
    coverage,
  }: { readonly following: Pick<Following, 'follow' | 'page'>; readonly coverage: ReadCoverage },
  query: MatchQuery,
  { waitMs, signal, jumpedTo }: WaitOptions,
): Promise<CoveredPage> {
  if (waitMs > 0) {
    using follower = following.follow(query, query.from ?? 0, jumpedTo);
    const entries = await follower.next({ limit: query.limit, waitMs, lingerMs, signal });
    if (!isCovered(query)) return { entries, more: true, coverage: null };
    if (entries.length > 0) return { entries, more: true, coverage: await coverage(query) };
  }
  const covered = isCovered(query) ? await coverage(query) : null;
  return { ...(await following.page(query)), coverage: covered };
}

const isCovered = ({ ruleId, platform }: MatchQuery) => ruleId !== null || platform !== null;

/** The matches that contain the words. */
export async function searchPage(
  { following, coverage }: { readonly following: Pick<Following, 'search'>; readonly coverage: ReadCoverage },
  query: MatchQuery,
  text: string,
): Promise<CoveredPage> {
  const covered = isCovered(query) ? await coverage(query) : null;
  return { ...(await following.search(query, text)), coverage: covered };
}
