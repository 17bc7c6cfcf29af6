import type { Earshot, Match, Requests } from '@earshot/sdk';

export interface Following {
  readonly filter: Pick<Requests['StreamMatches'], 'rule_id' | 'platform'>;
  /** From this time on; otherwise from now on. */
  readonly since: string | undefined;
  readonly signal: AbortSignal;
}

const pageSize = 100;

/** Matches as they come, each once and in order, over interruptions. Ends by throwing the reason of the signal. */
export async function* followFrom(
  earshot: Earshot,
  { filter, since, signal }: Following,
): AsyncGenerator<Match> {
  let cursor: string | undefined;
  for (let isPast = since !== undefined; isPast; ) {
    const page = await earshot.listMatches(
      { ...filter, cursor, since, order: 'oldest', limit: pageSize },
      { signal },
    );
    yield* page.matches;
    cursor = page.next_cursor ?? cursor;
    isPast = page.matches.length === pageSize;
  }
  yield* earshot.followMatches({ ...filter, cursor }, { signal });
}

/**
 * The follower comes back by itself for as long as it takes and says nothing. Somebody at a terminal wants to know why
 * nothing comes.
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
    if (response.status >= 500 || response.status === 429) trouble(`Earshot answers with ${response.status}`);
    else if (isInTrouble) {
      isInTrouble = false;
      note('Earshot is there again.');
    }
    return response;
  };
}
