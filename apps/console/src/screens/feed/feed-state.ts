import type { Answers, Match, Requests } from '@earshot/sdk';
import type { Platform } from '../../parts/platforms.ts';
import { findMarks, type Marks } from './marks.ts';
import { isMutedBy, type Muting } from './mutes.ts';

export interface Filter {
  readonly rule_id?: string | undefined;
  readonly platform?: Platform | undefined;
  readonly relevance?: Requests['StreamMatches']['relevance'];
}

export type Hidden = NonNullable<Answers['ListMatches']['hidden']>;

/** A match without `payload.raw`, which would use most of the memory. */
export interface FeedItem {
  readonly match: Omit<Match, 'payload'> & { readonly payload: Omit<Match['payload'], 'raw'> };
  readonly marks: Marks;
}

/** The parameters that list the matches after the last item; null at the end. A cursor is valid only with its `to`. */
export type OlderPage = { readonly to?: string; readonly cursor?: string } | null;

/**
 * The feed, newest first. While the user reads below the top, the feed is paused: new matches wait in `fresh`, so that the
 * list does not move. Both lists are bounded. Matches that were dropped are loaded again when the user scrolls to them.
 */
export interface FeedState {
  readonly items: readonly FeedItem[];
  readonly fresh: readonly FeedItem[];
  /** The number of waiting matches. It can exceed the length of `fresh`. */
  readonly freshCount: number;
  readonly older: OlderPage;
  readonly isListed: boolean;
  readonly isPaused: boolean;
  /** Ids of the latest removals: a page that was requested before may still contain them. */
  readonly removed: readonly string[];
  /** How many matches a mute or the filter hides: among the listed pages, and among those that arrived since. */
  readonly hidden: { readonly listed: Hidden; readonly arrived: Hidden };
}

export type FeedEvent =
  /** The page that was requested with `requested`, and the parameters of the next page. */
  | {
      readonly type: 'listed';
      readonly requested: OlderPage;
      readonly matches: readonly Match[];
      readonly older: OlderPage;
      readonly hidden?: Hidden | undefined;
    }
  /** In log order, oldest first. */
  | { readonly type: 'arrived'; readonly matches: readonly Match[] }
  | { readonly type: 'removed'; readonly ids: readonly string[] }
  /** The stream left out so many matches. */
  | { readonly type: 'hidden'; readonly hidden: Hidden }
  | { readonly type: 'labelled'; readonly id: string; readonly relevance: Match['relevance'] }
  /** Muted matches stay where they are, marked, until the list is loaded again. */
  | { readonly type: 'muted'; readonly mute: Muting }
  | { readonly type: 'unmuted'; readonly muteId: string }
  | { readonly type: 'paused'; readonly isPaused: boolean };

export const liveItemsMax = 1_000;
const removalsKept = 1_000;
const overlapMs = 1_000;

const noneHidden: Hidden = { muted: 0, not_relevant: 0 };

export const emptyFeed: FeedState = {
  items: [],
  fresh: [],
  freshCount: 0,
  older: null,
  isListed: false,
  isPaused: false,
  removed: [],
  hidden: { listed: noneHidden, arrived: noneHidden },
};

export function nextFeed(state: FeedState, event: FeedEvent): FeedState {
  switch (event.type) {
    case 'listed':
      // The list was cut after the page was requested, so the page would leave a hole.
      if (event.requested !== state.older) return { ...state, isListed: true };
      return {
        ...state,
        items: [...state.items, ...newItems(state, event.matches)],
        older: event.older,
        isListed: true,
        hidden: { ...state.hidden, listed: addHidden(state.hidden.listed, event.hidden) },
      };
    case 'arrived':
      return arrive(state, newItems(state, event.matches).toReversed());
    case 'removed':
      return remove(state, event.ids);
    case 'hidden':
      return {
        ...state,
        hidden: { ...state.hidden, arrived: addHidden(state.hidden.arrived, event.hidden) },
      };
    case 'labelled':
      return changeMatches(state, (match) => {
        if (match.id !== event.id) return match;
        const { relevance: _, ...unlabelled } = match;
        return event.relevance ? { ...match, relevance: event.relevance } : unlabelled;
      });
    case 'muted':
      return changeMatches(state, (match) =>
        isMutedBy(event.mute, match) ? { ...match, muted_by: event.mute.id } : match,
      );
    case 'unmuted':
      return changeMatches(state, (match) => {
        if (match.muted_by !== event.muteId) return match;
        const { muted_by: _, ...unmuted } = match;
        return unmuted;
      });
    case 'paused':
      if (event.isPaused === state.isPaused) return state;
      return event.isPaused ? { ...state, isPaused: true } : resume({ ...state, isPaused: false });
  }
}

function arrive(state: FeedState, items: readonly FeedItem[]): FeedState {
  if (items.length === 0) return state;
  if (!state.isPaused) return bounded(state, [...items, ...state.items]);
  return {
    ...state,
    fresh: [...items, ...state.fresh].slice(0, liveItemsMax),
    freshCount: state.freshCount + items.length,
  };
}

function resume(state: FeedState): FeedState {
  const { fresh, freshCount, items } = state;
  const caughtUp = { ...state, fresh: [], freshCount: 0 };
  if (freshCount === fresh.length) return bounded(caughtUp, [...fresh, ...items]);
  // Some waiting matches were dropped. The list continues with the kept ones and loads the others again.
  return { ...caughtUp, items: fresh, older: olderThan(fresh) };
}

function bounded(state: FeedState, items: readonly FeedItem[]): FeedState {
  if (items.length <= liveItemsMax) return { ...state, items };
  const kept = items.slice(0, liveItemsMax);
  return { ...state, items: kept, older: olderThan(kept) };
}

/**
 * There is no cursor for a place in the middle of the list, so this uses the time of the last item. It adds an overlap,
 * because several matches can have the same time and a clock can be set back. Duplicates are left out later.
 */
function olderThan(kept: readonly FeedItem[]): OlderPage {
  const last = kept.at(-1);
  return last ? { to: new Date(Date.parse(last.match.created_at) + overlapMs).toISOString() } : null;
}

function remove(state: FeedState, ids: readonly string[]): FeedState {
  const gone = new Set(ids);
  const remains = ({ match }: FeedItem) => !gone.has(match.id);
  const fresh = state.fresh.filter(remains);
  return {
    ...state,
    items: state.items.filter(remains),
    fresh,
    freshCount: state.freshCount - (state.fresh.length - fresh.length),
    removed: [...state.removed, ...ids].slice(-removalsKept),
  };
}

function changeMatches(state: FeedState, change: (match: FeedItem['match']) => FeedItem['match']): FeedState {
  const changed = (item: FeedItem) => {
    const match = change(item.match);
    return match === item.match ? item : { ...item, match };
  };
  return { ...state, items: state.items.map(changed), fresh: state.fresh.map(changed) };
}

export function addHidden(one: Hidden, other: Hidden = noneHidden): Hidden {
  const inStory = (one.in_story ?? 0) + (other.in_story ?? 0);
  return {
    muted: one.muted + other.muted,
    not_relevant: one.not_relevant + other.not_relevant,
    ...(inStory > 0 && { in_story: inStory }),
  };
}

/** The matches that are not in the feed yet. Runs for every page and flush, so it does not copy the lists. */
function newItems({ items, fresh, removed }: FeedState, matches: readonly Match[]): FeedItem[] {
  const missing = new Map(matches.map((match) => [match.id, match]));
  for (const { match } of items) missing.delete(match.id);
  for (const { match } of fresh) missing.delete(match.id);
  for (const id of removed) missing.delete(id);
  return [...missing.values()].map(toItem);
}

export function toItem(match: Match): FeedItem {
  const { raw: _, ...payload } = match.payload;
  return { match: { ...match, payload }, marks: findMarks(match) };
}
