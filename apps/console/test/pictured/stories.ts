import type { Match, Requests } from '@earshot/sdk';
import { matches } from './matches.ts';

type Story = NonNullable<Match['story']>;

const reasons: ReadonlyArray<Story['because']> = [
  'same_url',
  'repost',
  'quote',
  'same_page',
  'copy',
  'first',
];
const [first] = matches;

function storyOf(size: number, because: Story['because']): Story {
  const web = Math.floor(size / 3);
  return {
    id: 'story_0000000002rs',
    matches: size,
    platforms: { x: size - web, ...(web > 0 && { firehose: web }) },
    first_at: first?.created_at ?? '',
    last_at: first?.created_at ?? '',
    because,
    members: [],
  };
}

const sizes = [7, 1, 1_240, 2, 1, 1, 36];

/** What a list answers that groups by story, or that lists the matches of one. */
export function listStories({ group, story_id }: Requests['ListMatches'] & object): readonly Match[] | null {
  if (story_id !== undefined)
    return matches
      .slice(0, reasons.length)
      .map((match, index) => ({ ...match, story: storyOf(7, reasons[index] ?? 'first') }));
  if (group === undefined) return null;
  return matches.map((match, index) => ({
    ...match,
    story: storyOf(sizes[index % sizes.length] ?? 1, 'first'),
  }));
}
