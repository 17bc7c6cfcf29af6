import { setTimeout as sleep } from 'node:timers/promises';
import type { Earshot, FollowedMatches, Match, Removal, Requests } from '@earshot/sdk';

export interface Following {
  readonly filter: Pick<Requests['StreamMatches'], 'rule_id' | 'platform'>;
  /** Start of the matches. Undefined: now. */
  readonly from: string | undefined;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
  /** Called for each removal, in the order of the log. */
  readonly onRemoved?: (removal: Removal) => void;
}

const pageSize = 100;
const openPollMs = 20;

/** Yields each match once and in order, and survives interruptions. Throws the reason of the signal at the end. */
export async function* followFrom(earshot: Earshot, following: Following): AsyncGenerator<Match, void> {
  const { filter, from, signal, note, onRemoved = () => undefined } = following;
  const onRestored = () => note('Earshot was restored to an earlier state: some matches may be shown again.');
  if (from === undefined) {
    yield* earshot.followMatches(filter, { signal, onRestored, onRemoved });
    return;
  }
  // The stream opens before the past is listed, so that no match is missed. A match in both is yielded once.
  const left = new AbortController();
  const ends = AbortSignal.any([signal, left.signal]);
  try {
    // A removal waits until the past is listed, because its match may be in the past.
    const early: Removal[] = [];
    let isListed = false;
    const report = (removal: Removal) => (isListed ? onRemoved(removal) : void early.push(removal));
    const live = earshot.followMatches(filter, { signal: ends, onRestored, onRemoved: report });
    const matches = live[Symbol.asyncIterator]();
    const first = matches.next();
    await opened(live, first);
    const listed = new Set<string>();
    for await (const match of listPast(earshot, { filter, from, signal: ends })) {
      listed.add(match.id);
      yield match;
    }
    isListed = true;
    for (const removal of early) onRemoved(removal);
    for (let next = await first; !next.done; next = await matches.next()) {
      if (listed.has(next.value.id)) continue;
      // The log is in order: after the first new match, all are new.
      listed.clear();
      yield next.value;
    }
  } finally {
    left.abort();
  }
}

/** Waits until the stream is open, which only the cursor of the follower shows. Throws if the stream is refused. */
async function opened(live: FollowedMatches, first: Promise<unknown>): Promise<void> {
  const hasMatch = first.then(() => true);
  // The caller waits for the same promise later, and handles its failure.
  hasMatch.catch(() => undefined);
  while (live.cursor === undefined) {
    if (await Promise.race([hasMatch, sleep(openPollMs, false)])) return;
  }
}

async function* listPast(
  earshot: Earshot,
  { filter, from, signal }: Pick<Following, 'filter' | 'from' | 'signal'>,
): AsyncGenerator<Match, void> {
  let cursor: string | undefined;
  for (;;) {
    const request = { ...filter, from, cursor, order: 'oldest', limit: pageSize } as const;
    // Retries like the stream, so that a restart of the server does not end the tail.
    const options = { signal, timeoutMs: Number.POSITIVE_INFINITY };
    const { matches, removed, hidden, next_cursor } = await earshot.listMatches(request, options);
    yield* matches;
    // A page of large matches is shorter than the limit, and all matches of a page may be left out. Removals of the past are not shown, as their matches are not listed.
    if ((matches.length === 0 && !removed && !hidden) || next_cursor === null) return;
    cursor = next_cursor;
  }
}

/**
 * The follower reconnects silently, for any length of time. This fetch reports on the terminal why no matches arrive.
 */
export function noticingFetch(note: (text: string) => void): typeof fetch {
  let isInTrouble = false;
  const trouble = (words: string) => {
    if (!isInTrouble) note(`${words}; trying again …`);
    isInTrouble = true;
  };
  return async (input, init) => {
    let response: Response;
    try {
      response = await fetch(input, init);
    } catch (error) {
      if (init?.signal?.aborted !== true) trouble('Earshot cannot be reached');
      throw error;
    }
    if (isWorthWaiting(response)) trouble(`Earshot answers with ${response.status}`);
    else if (isInTrouble) {
      isInTrouble = false;
      note('Earshot is available again.');
    }
    return response;
  };
}

/** A limit without a retry-after is not retried. */
function isWorthWaiting({ status, headers }: Response): boolean {
  return [502, 503, 504].includes(status) || (status === 429 && headers.has('retry-after'));
}
