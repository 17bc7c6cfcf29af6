import type { Coverage, HiddenMatches } from '@earshot/contract';
import type { ReadCoverage } from '../coverage/read-coverage.ts';
import { pause } from '../runtime/worker.ts';
import type { Following, ReaderQuery } from './follow-matches.ts';
import { countHidden, type HiddenEntry } from './hidden-matches.ts';
import type { LogEntry } from './to-match.ts';
import type { Viewed } from './views.ts';

/** What the caller sees of these entries (relevance/views.ts). */
export type ViewOf = (entries: readonly LogEntry[]) => Viewed | Promise<Viewed>;

export interface WaitOptions {
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** The last position to which the log is known to have jumped. */
  readonly jumpedTo: number;
  readonly viewOf: ViewOf;
  /** Most matches of a page may be left out, so whole pages are read. */
  readonly isGrouped?: boolean;
}

export interface CoveredPage {
  readonly entries: readonly LogEntry[];
  /** Between these entries and behind them, up to `through`. */
  readonly hidden: HiddenMatches;
  /** False if these are all. */
  readonly more: boolean;
  /** The last position that was read, which may be behind the last entry. Null: nothing was read. */
  readonly through: number | null;
  /** Null unless a rule or a platform was requested. */
  readonly coverage: Coverage | null;
}

/**
 * An answer with fewer matches than requested is sent this long after the request at the earliest. Otherwise a client that follows many
 * matches would use up its requests: one for each commit.
 */
const lingerMs = 200;
/** How often a request that waits for a verdict checks for it. */
const verdictPollMs = 250;
/** One request reads no more matches than these, however few of them are shown. */
const readMax = 5_000;

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
  query: ReaderQuery,
  options: WaitOptions,
): Promise<CoveredPage> {
  const found = createCollected(options.viewOf, query.limit);
  if (options.waitMs > 0) {
    await waitForEntries(following, query, options, found);
    if (!isCovered(query)) return found.page({ more: true, coverage: null });
    if (found.entries.length > 0) return found.page({ more: true, coverage: await coverage(query) });
  }
  const covered = isCovered(query) ? await coverage(query) : null;
  for (let read = 0; ; ) {
    const limit = options.isGrouped ? query.limit : query.limit - found.entries.length;
    const page = await following.page({ ...query, from: found.through() ?? query.from, limit });
    read += page.entries.length;
    const isWaiting = await found.add(page.entries);
    const isEnough = found.entries.length >= query.limit || read >= readMax || isWaiting;
    const more = page.more || isWaiting || found.isCut();
    if (isEnough || !page.more) return found.page({ more, coverage: covered });
  }
}

async function waitForEntries(
  following: Pick<Following, 'follow'>,
  query: ReaderQuery,
  { waitMs, signal, jumpedTo }: WaitOptions,
  found: ReturnType<typeof createCollected>,
): Promise<void> {
  const untilMs = performance.now() + waitMs;
  using follower = following.follow(query, query.from ?? 0, jumpedTo);
  for (;;) {
    const leftMs = Math.max(0, untilMs - performance.now());
    const entries = await follower.next({ limit: query.limit, waitMs: leftMs, lingerMs, signal });
    if (entries.length === 0) return;
    let waiting = entries;
    while (await found.add(waiting)) {
      const through = found.through();
      waiting = waiting.filter(({ position }) => through === null || position > through);
      if (found.entries.length > 0 || signal.aborted || performance.now() >= untilMs) return;
      await pause(verdictPollMs, signal);
    }
    if (found.entries.length > 0 || signal.aborted || performance.now() >= untilMs) return;
  }
}

/** Collects what is shown of the entries that are read one after the other. */
function createCollected(viewOf: ViewOf, limit: number) {
  const entries: LogEntry[] = [];
  const hiddenAt: HiddenEntry[] = [];
  let through: number | null = null;
  let isCut = false;
  return {
    entries,
    through: () => through,
    /** Whether more is shown than fits. */
    isCut: () => isCut,
    /** True if an entry waits for a verdict: it and those behind it are not added. */
    async add(read: readonly LogEntry[]): Promise<boolean> {
      const seen = await viewOf(read);
      const matches = entries.filter((one) => 'match' in one).length;
      const fitting = firstMatches(seen.entries, limit - matches);
      for (const entry of fitting) entries.push(entry);
      isCut = fitting.length < seen.entries.length;
      if (isCut) {
        through = entries.at(-1)?.position ?? through;
        const taken = new Set(
          read
            .slice(
              0,
              read.findIndex(({ position }) => position === through),
            )
            .map((one) => one.position),
        );
        hiddenAt.push(...seen.hiddenAt.filter(({ position }) => taken.has(position)));
        return false;
      }
      hiddenAt.push(...seen.hiddenAt);
      through = seen.through ?? through;
      return seen.waitsUntil !== null;
    },
    page: (rest: Pick<CoveredPage, 'more' | 'coverage'>): CoveredPage => ({
      entries,
      hidden: countHidden(hiddenAt),
      through,
      ...rest,
    }),
  };
}

/** The entries up to so many matches. */
function firstMatches(entries: readonly LogEntry[], max: number): readonly LogEntry[] {
  let matches = 0;
  const end = entries.findIndex((one) => 'match' in one && ++matches > max);
  return end < 0 ? entries : entries.slice(0, end);
}

const isCovered = ({ ruleId, platform }: ReaderQuery) => ruleId !== null || platform !== null;

/** The matches that contain the words. */
export async function searchPage(
  { following, coverage }: { readonly following: Pick<Following, 'search'>; readonly coverage: ReadCoverage },
  query: ReaderQuery,
  { text, viewOf }: { readonly text: string; readonly viewOf: ViewOf },
): Promise<CoveredPage> {
  const covered = isCovered(query) ? await coverage(query) : null;
  const { entries, more, through } = await following.search(query, text);
  return { ...(await viewOf(entries)), more, through, coverage: covered };
}
