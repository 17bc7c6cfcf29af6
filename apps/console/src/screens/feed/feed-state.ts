import type { Match } from '@earshot/sdk';
import { findMarks, type Marks } from './marks.ts';

/** A match without the platform's own form of it, which would be most of the tab's memory. */
export interface FeedItem {
  readonly match: Omit<Match, 'payload'> & { readonly payload: Omit<Match['payload'], 'raw'> };
  readonly marks: Marks;
}

/** The parameters that list the matches after the last item; null at the end. A cursor is valid only with its `to`. */
export type Older = { readonly to?: string; readonly cursor?: string } | null;

/**
 * The feed, newest first. While the reader is away from its top, what arrives waits in `fresh`, so that nothing moves
 * under the eyes. Both are bounded: what falls out of them is asked for again when the reader gets there.
 */
export interface FeedState {
  readonly items: readonly FeedItem[];
  readonly fresh: readonly FeedItem[];
  /** May be more than `fresh` holds. */
  readonly freshCount: number;
  readonly older: Older;
  readonly isListed: boolean;
  readonly isAway: boolean;
  /** The latest removals: a page that was on its way may still have their matches. */
  readonly removed: readonly string[];
}

export type FeedEvent =
  /** The page behind `asked`, and how to ask for the next one. */
  | {
      readonly type: 'listed';
      readonly asked: Older;
      readonly matches: readonly Match[];
      readonly older: Older;
    }
  /** In the order of the log, the oldest first. */
  | { readonly type: 'arrived'; readonly matches: readonly Match[] }
  | { readonly type: 'removed'; readonly ids: readonly string[] }
  | { readonly type: 'away'; readonly isAway: boolean };

export const liveItemsMax = 1_000;
const removalsKept = 1_000;
const timesOverlapMs = 1_000;

export const emptyFeed: FeedState = {
  items: [],
  fresh: [],
  freshCount: 0,
  older: null,
  isListed: false,
  isAway: false,
  removed: [],
};

export function nextFeed(state: FeedState, event: FeedEvent): FeedState {
  switch (event.type) {
    case 'listed':
      // The list was cut while the page was on its way: behind what is left there would be a hole.
      if (event.asked !== state.older) return { ...state, isListed: true };
      return {
        ...state,
        items: [...state.items, ...newItems(state, event.matches)],
        older: event.older,
        isListed: true,
      };
    case 'arrived':
      return arrive(state, newItems(state, event.matches).toReversed());
    case 'removed':
      return remove(state, event.ids);
    case 'away':
      if (event.isAway === state.isAway) return state;
      return event.isAway ? { ...state, isAway: true } : comeBack({ ...state, isAway: false });
  }
}

function arrive(state: FeedState, items: readonly FeedItem[]): FeedState {
  if (items.length === 0) return state;
  if (!state.isAway) return bounded(state, [...items, ...state.items]);
  return {
    ...state,
    fresh: [...items, ...state.fresh].slice(0, liveItemsMax),
    freshCount: state.freshCount + items.length,
  };
}

function comeBack(state: FeedState): FeedState {
  const { fresh, freshCount, items } = state;
  const caughtUp = { ...state, fresh: [], freshCount: 0 };
  if (freshCount === fresh.length) return bounded(caughtUp, [...fresh, ...items]);
  // More came than was kept: the list goes on from what was, and asks for the rest.
  return { ...caughtUp, items: fresh, older: behind(fresh) };
}

function bounded(state: FeedState, items: readonly FeedItem[]): FeedState {
  if (items.length <= liveItemsMax) return { ...state, items };
  const kept = items.slice(0, liveItemsMax);
  return { ...state, items: kept, older: behind(kept) };
}

/**
 * A cursor for a place in the middle of the list is not to be had, but times are those of the log. A little more is asked
 * for, since a clock may be set back and what was stored together has one time; what is already there is left out.
 */
function behind(kept: readonly FeedItem[]): Older {
  const last = kept.at(-1);
  return last ? { to: new Date(Date.parse(last.match.created_at) + timesOverlapMs).toISOString() } : null;
}

function remove(state: FeedState, ids: readonly string[]): FeedState {
  const gone = new Set(ids);
  const stays = ({ match }: FeedItem) => !gone.has(match.id);
  const fresh = state.fresh.filter(stays);
  return {
    ...state,
    items: state.items.filter(stays),
    fresh,
    freshCount: state.freshCount - (state.fresh.length - fresh.length),
    removed: [...state.removed, ...ids].slice(-removalsKept),
  };
}

/** Goes through everything that is there, at each page and each flush: no copy is made of it. */
function newItems({ items, fresh, removed }: FeedState, matches: readonly Match[]): FeedItem[] {
  const missing = new Map(matches.map((match) => [match.id, match]));
  for (const { match } of items) missing.delete(match.id);
  for (const { match } of fresh) missing.delete(match.id);
  for (const id of removed) missing.delete(id);
  return [...missing.values()].map(toItem);
}

function toItem(match: Match): FeedItem {
  const { raw: _, ...payload } = match.payload;
  return { match: { ...match, payload }, marks: findMarks(match) };
}
