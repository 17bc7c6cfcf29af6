import type { Match } from '@earshot/sdk';
import { type ExcerptSize, excerptOf, lengthOf, textLengthMax } from './untrusted.ts';

/**
 * A match on one line. What Earshot itself made comes first, in parts without a space: id, time, platform, rules. Then come
 * the words of strangers: author and address, in which spaces are written out, so that each has its place, then title and
 * text. No line end of a stranger is left, so every line begins with an id of ours.
 */
export function writeLine(match: Match, size: ExcerptSize, labels: readonly string[]): string {
  const { id, created_at: matchedAt, platform, via, why, payload } = match;
  const { author, url, title, text } = excerptOf(match, size).content;
  const isCut = lengthOf(payload.text ?? '') > Math.min(size.textLength, textLengthMax);
  const words = [title, text && onOneLine(text)].filter(Boolean).join(' | ');
  return [
    id,
    `${matchedAt.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z`,
    via === 'search' ? `${platform}/search` : platform,
    `${labels.join('+')}${why.undecided.length > 0 ? '?' : ''}`,
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
