import { setTimeout as sleep } from 'node:timers/promises';
import type { Earshot, FollowedMatches, Match, Removal, Requests } from '@earshot/sdk';

export interface Following {
  readonly filter: Pick<Requests['StreamMatches'], 'rule_id' | 'platform'>;
  /** From this time on; otherwise from now on. */
  readonly from: string | undefined;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
  /** In their order among the matches. */
  readonly onRemoved?: (removal: Removal) => void;
}

const pageSize = 100;
const openPollMs = 20;

/** Matches as they come, each once and in order, over interruptions. Ends by throwing the reason of the signal. */
export async function* followFrom(earshot: Earshot, following: Following): AsyncGenerator<Match, void> {
  const { filter, from, signal, note, onRemoved = () => undefined } = following;
  const onRestored = () => note('Earshot was restored to an earlier state: some matches may be shown again.');
  if (from === undefined) {
    yield* earshot.followMatches(filter, { signal, onRestored, onRemoved });
    return;
  }
  // The stream is open before the past is listed, so that nothing falls between them. What is in both is given once.
  const left = new AbortController();
  const ends = AbortSignal.any([signal, left.signal]);
  try {
    // A removal that comes while the past is listed waits for its end: the match may be in it.
    const early: Removal[] = [];
    let isListed = false;
    const tell = (removal: Removal) => (isListed ? onRemoved(removal) : void early.push(removal));
    const live = earshot.followMatches(filter, { signal: ends, onRestored, onRemoved: tell });
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
      // In the order of the log: behind the first that is new, all are.
      listed.clear();
      yield next.value;
    }
  } finally {
    left.abort();
  }
}

/** The follower says nothing when its stream is open: its cursor appears. Throws what the stream is refused with. */
async function opened(live: FollowedMatches, first: Promise<unknown>): Promise<void> {
  const hasMatch = first.then(() => true);
  // Later on it is the match that is waited for, and its failure is thrown there.
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
    // As patient as the stream: a server that restarts meanwhile does not end the tail.
    const asked = earshot.listMatches(request, { signal, timeoutMs: Number.POSITIVE_INFINITY });
    const { matches, removed, next_cursor } = await asked;
    yield* matches;
    // A page of large matches is shorter than what was asked for; one of removals has none, and is not shown: nor are their matches.
    if ((matches.length === 0 && !removed) || next_cursor === null) return;
    cursor = next_cursor;
  }
}

/**
 * The follower reconnects silently for as long as it takes. This fetch tells the person at the terminal why nothing comes.
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
      note('Earshot is there again.');
    }
    return response;
  };
}

/** A limit without a retry-after is not retried. */
function isWorthWaiting({ status, headers }: Response): boolean {
  return [502, 503, 504].includes(status) || (status === 429 && headers.has('retry-after'));
}
