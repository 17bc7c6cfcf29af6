import type { Match } from '@earshot/sdk';
import { type ExcerptSize, excerptOf, lengthOf, textLengthMax } from './untrusted.ts';

/**
 * A match on one line. Earshot's own fields come first and have no spaces: id, time, platform, rules and size of the story. Then comes untrusted
 * content: author and address, with escaped spaces, so that each stays one field, then title and text. Untrusted content has
 * no line ends, so every line begins with an id of Earshot.
 */
export function writeLine(match: Match, size: ExcerptSize, labels: readonly string[]): string {
  const { id, created_at: matchedAt, platform, via, why, payload, story } = match;
  const { author, url, title, text } = excerptOf(match, size).content;
  const isCut = lengthOf(payload.text ?? '') > Math.min(size.textLength, textLengthMax);
  const words = [title, text && onOneLine(text)].filter(Boolean).join(' | ');
  return [
    id,
    `${matchedAt.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z`,
    via === 'search' ? `${platform}/search` : platform,
    `${labels.join('+')}${why.undecided.length > 0 ? '?' : ''}${story && story.matches > 1 ? `#${story.matches}` : ''}`,
    author?.handle ? `@${unspaced(author.handle)}` : '-',
    url ? unspaced(url) : '-',
    `${words}${isCut ? '…' : ''}`,
  ].join(' ');
}

function onOneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, ' / ');
}

function unspaced(text: string): string {
  return text.replaceAll(' ', '%20');
}
