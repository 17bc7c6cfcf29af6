import type { Match } from '@earshot/sdk';
import { formatCount } from '../../parts/format.ts';
import { platformNames, platforms } from '../../parts/platforms.ts';

type Story = NonNullable<Match['story']>;

/** Such as `7 items · X 5 · Firehose 2`. Null for a match that is alone. */
export function sizeWords({
  matches,
  platforms: counts,
}: Pick<Story, 'matches' | 'platforms'>): string | null {
  if (matches < 2) return null;
  const parts = platforms.flatMap((platform) => {
    const count = counts[platform];
    return count === undefined ? [] : [`${platformNames[platform]} ${formatCount(count)}`];
  });
  return [`${formatCount(matches)} items`, ...parts].join(' · ');
}

/** Why a match is in its story. */
export const reasonWords: Readonly<Record<Story['because'], string>> = {
  first: 'began the story',
  same_page: 'is the same page or post',
  repost: 'reposts an item of this story',
  quote: 'quotes an item of this story',
  reply: 'replies to an item of this story',
  conversation: 'is in the same conversation',
  same_url: 'links to the same page',
  copy: 'has the same text',
  merged: 'began a story that has joined this one',
};
