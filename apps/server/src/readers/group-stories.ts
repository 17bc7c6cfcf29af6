import type { Match, Story } from '@earshot/contract';
import type { Database } from '../engines/database.ts';
import { storyIdOf } from '../runtime/ids.ts';
import { readFirst, readPlaces, type StoryPlace, type StoryRange } from '../stories/story-reader.sql.ts';
import type { LogEntry, MatchEntry } from './to-match.ts';

export interface GroupOptions {
  readonly database: Pick<Database, 'forAccount'>;
  readonly accountId: string;
  readonly range: StoryRange;
  /** Whether a reader may not see some matches, which then cannot stand for their story. */
  readonly hides: boolean;
  /** The first of these matches that the reader sees; null if it sees none. */
  readonly firstShown: (positions: readonly number[]) => Promise<number | null>;
}

/** How many matches of a story are searched for one that the reader sees. */
const searchedMax = 50;

/** Of each story, leaves the match that stands for it. Also returns the positions of the others. */
export async function groupStories(
  entries: readonly LogEntry[],
  options: GroupOptions,
): Promise<{ entries: readonly LogEntry[]; inStory: readonly number[] }> {
  const { database, accountId, range } = options;
  const positions = entries.flatMap((one) => ('match' in one ? [one.position] : []));
  if (positions.length === 0) return { entries, inStory: [] };
  const places = await readPlaces(database, accountId, positions, range);
  const standsFor = createStandsFor(options);
  const shown: LogEntry[] = [];
  const inStory: number[] = [];
  for (const entry of entries) {
    const place = places.get(entry.position);
    if (!('match' in entry)) shown.push(entry);
    else if (!place) shown.push(withStory(entry, storyOf(entry.match, entry.position)));
    else if (await standsFor(place)) shown.push(withStory(entry, place.story));
    else inStory.push(entry.position);
  }
  return { entries: shown, inStory };
}

/** When a story has grown to these, it is listed again. */
const milestones: ReadonlySet<number | null> = new Set([1, 10, 100, 1_000, 10_000]);

function createStandsFor({ database, accountId, range, hides, firstShown }: GroupOptions) {
  const firsts = new Map<string, number | null>();
  return async ({ position, nth, story }: StoryPlace): Promise<boolean> => {
    if (nth === 1 || (range.order === 'oldest' && milestones.has(nth))) return true;
    if (!hides) return false;
    const known = firsts.get(story.id);
    if (known !== undefined) return known === position;
    const first = await firstShown(
      await readFirst(database, accountId, position, { range, limit: searchedMax }),
    );
    // If none of the first ones is seen, this one is listed: twice is better than never.
    firsts.set(story.id, first ?? position);
    return first === null || first === position;
  };
}

/** A copy: other readers have the same match. */
function withStory(entry: MatchEntry, story: Story): MatchEntry {
  return { position: entry.position, match: { ...entry.match, story } };
}

/** The story of a match that is alone. */
function storyOf({ id, rule_id, platform, created_at }: Match, position: number): Story {
  const because = 'first';
  return {
    id: storyIdOf(position),
    matches: 1,
    platforms: { [platform]: 1 },
    first_at: created_at,
    last_at: created_at,
    because,
    members: [{ match_id: id, rule_id, platform, because, created_at }],
  };
}

/** The same matches with their place in the story of which they are all part. */
export async function markStory(
  database: Pick<Database, 'forAccount'>,
  accountId: string,
  entries: readonly MatchEntry[],
  range: StoryRange,
): Promise<MatchEntry[]> {
  const positions = entries.map(({ position }) => position);
  const places = await readPlaces(database, accountId, positions, range);
  return entries.map((entry) =>
    withStory(entry, places.get(entry.position)?.story ?? storyOf(entry.match, entry.position)),
  );
}
