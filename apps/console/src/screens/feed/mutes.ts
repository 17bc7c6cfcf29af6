import type { Answers, Match } from '@earshot/sdk';

/** What the feed needs to know of a mute of an author or site. */
export type Muting = Pick<Answers['MuteMatches'], 'id' | 'rule_id' | 'author' | 'domain'>;

type Shown = Pick<Match, 'rule_id' | 'platform'> & {
  readonly payload: Pick<Match['payload'], 'author' | 'url'>;
};

/** Whether the mute hides the match. The server decides it in the same way for everything that is loaded later. */
export function isMutedBy({ rule_id, author, domain }: Muting, match: Shown): boolean {
  if (rule_id !== null && rule_id !== match.rule_id) return false;
  const { payload } = match;
  if (author !== null)
    return payload.author?.handle?.toLowerCase() === author || payload.author?.id === author;
  const host = hostOf(payload.url);
  return domain !== null && host !== null && (host === domain || host.endsWith(`.${domain}`));
}

/** What MuteMatches takes to mute the author: the handle, which people know, or else the id. */
export function mutableAuthor({ payload: { author } }: Shown): string | null {
  return author?.handle ?? author?.id ?? null;
}

/** The site of a page; null for a post, because all posts have the same. */
export function mutableSite({ platform, payload }: Shown): string | null {
  return platform === 'firehose' ? hostOf(payload.url) : null;
}

function hostOf(url: string | null): string | null {
  return (url !== null && URL.parse(url)?.hostname.replace(/^www\./, '')) || null;
}
