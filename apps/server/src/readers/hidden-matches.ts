import type { HiddenMatches } from '@earshot/contract';

/** A match that a reader leaves out, and why. */
export interface HiddenEntry {
  readonly position: number;
  readonly by: keyof HiddenMatches;
}

export function countHidden(hiddenAt: readonly HiddenEntry[]): HiddenMatches {
  const count = (reason: keyof HiddenMatches) => hiddenAt.filter(({ by }) => by === reason).length;
  const inStory = count('in_story');
  return {
    muted: count('muted'),
    not_relevant: count('not_relevant'),
    ...(inStory > 0 && { in_story: inStory }),
  };
}
