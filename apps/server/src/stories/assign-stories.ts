import type { StoryReason } from '@earshot/contract';
import type { StoryItem } from './story-keys.ts';

/** An item belongs to a story that has an item less than this earlier or later. */
export const windowMs = 72 * 3_600_000;

/** A match that is new, in the order of the log. */
export interface MatchToAssign {
  readonly position: number;
  readonly accountId: string;
  readonly day: string;
  readonly item: StoryItem;
}

/** A key that some earlier match had. */
export interface KnownKey {
  readonly accountId: string;
  readonly key: string;
  /** The story to which it leads now. */
  readonly storyId: number;
  readonly lastAtMs: number;
  /** Whether the story has a row and members already. */
  readonly isStored: boolean;
  /** The day of its first match, if it is not stored. */
  readonly day: string;
}

export interface StoryMember {
  readonly position: number;
  readonly storyId: number;
  readonly because: StoryReason;
}

export interface StoryChanges {
  readonly keys: readonly KeyRow[];
  /** Stories that have grown or merged. */
  readonly stories: readonly StoryRow[];
  readonly members: readonly StoryMember[];
  /** Stories that get their second match: their first match becomes a member too. */
  readonly begun: ReadonlyArray<{ readonly storyId: number; readonly day: string }>;
}

export interface KeyRow extends Pick<KnownKey, 'accountId' | 'key' | 'storyId'> {
  readonly atMs: number;
  /** Whether it belonged to an earlier story. */
  readonly isTaken: boolean;
}

interface StoryRow {
  readonly id: number;
  readonly accountId: string;
  readonly lastAtMs: number;
  readonly mergedInto: number | null;
}

interface Story {
  readonly id: number;
  readonly accountId: string;
  readonly day: string;
  lastAtMs: number;
  isStored: boolean;
  isChanged: boolean;
  mergedInto: Story | null;
}

/**
 * Assigns each match to the story with which it shares a key, or to a new one. If it shares keys with several stories, they
 * merge into the oldest. Each match changes the state for the next one as if it was alone, so it makes no difference how
 * matches are split into batches. Pure.
 */
export function assignStories(known: readonly KnownKey[], matches: readonly MatchToAssign[]): StoryChanges {
  const stories = new Map<number, Story>();
  const byKey = new Map<string, Story>();
  const stored = new Set<string>();
  for (const { accountId, key, storyId, lastAtMs, isStored, day } of known) {
    const state = { lastAtMs, isStored, isChanged: false, mergedInto: null };
    const story = stories.get(storyId) ?? { id: storyId, accountId, day, ...state };
    stories.set(storyId, story);
    byKey.set(`${accountId} ${key}`, story);
    stored.add(`${accountId} ${key}`);
  }
  const newKeys = new Map<string, KeyRow>();
  const members: StoryMember[] = [];
  const begun: Array<StoryChanges['begun'][number]> = [];
  const grow = (story: Story) => {
    story.isChanged = true;
    if (story.isStored) return;
    story.isStored = true;
    begun.push({ storyId: story.id, day: story.day });
  };
  const join = (shared: readonly Story[], atMs: number): Story => {
    const oldest = shared.reduce((one, other) => (other.id < one.id ? other : one));
    for (const story of shared) {
      grow(story);
      if (story !== oldest) story.mergedInto = oldest;
    }
    oldest.lastAtMs = Math.max(atMs, ...shared.map(({ lastAtMs }) => lastAtMs));
    return oldest;
  };

  for (const { position, accountId, day, item } of matches) {
    const { atMs } = item;
    const shared = new Set<Story>();
    const free: string[] = [];
    let because: StoryReason = 'first';
    for (const { key, because: reason } of item.keys) {
      const name = `${accountId} ${key}`;
      const first = byKey.get(name);
      const story = first && latestOf(first);
      if (!story || atMs - story.lastAtMs > windowMs) free.push(key);
      // An old item that arrives late does not take the key of a later story.
      else if (story.lastAtMs - atMs <= windowMs) {
        if (shared.size === 0) because = reason;
        shared.add(story);
      }
    }
    const state = { lastAtMs: atMs, isStored: false, isChanged: false, mergedInto: null };
    const story = shared.size > 0 ? join([...shared], atMs) : { id: position, accountId, day, ...state };
    if (shared.size > 0) members.push({ position, storyId: story.id, because });
    stories.set(story.id, story);
    for (const key of free) {
      const name = `${accountId} ${key}`;
      byKey.set(name, story);
      newKeys.set(name, { accountId, key, storyId: story.id, atMs, isTaken: stored.has(name) });
    }
  }
  return {
    keys: [...newKeys.values()],
    members,
    begun,
    stories: [...stories.values()].filter(({ isChanged }) => isChanged).map(toRow),
  };
}

function latestOf(story: Story): Story {
  let latest = story;
  while (latest.mergedInto) latest = latest.mergedInto;
  return latest;
}

function toRow(story: Story): StoryRow {
  const { id, accountId, lastAtMs, mergedInto } = story;
  return { id, accountId, lastAtMs, mergedInto: mergedInto === null ? null : latestOf(story).id };
}
