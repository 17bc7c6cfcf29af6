import type { Match } from '@earshot/sdk';
import { type ExcerptSize, lengthOf, textLengthMax } from './untrusted.ts';

interface ShareOptions {
  readonly matches: readonly Match[];
  /** Tokens for all matches together. */
  readonly room: number;
  readonly tokensOf: (match: Match, size: ExcerptSize) => number;
}

/** The least text of a match that is shown before a further match is. */
const previewLength = 140;
const stepsMax = 5;
/** English has more. A first guess, no bound. */
const tokensPerCharacterMin = 0.25;

interface Share {
  readonly match: Match;
  readonly length: number;
  size: ExcerptSize;
  tokens: number;
}

/**
 * How much of each match is shown: of the first ones, as many as fit with a preview. What is left goes to them evenly: no match
 * gets more text while a shorter one is not whole.
 */
export function chooseSizes(options: ShareOptions): ExcerptSize[] {
  const { matches, tokensOf } = options;
  let room = options.room;
  const shares: Share[] = [];
  for (const match of matches) {
    const length = Math.min(textLengthMax, lengthOf(match.payload.text ?? ''));
    const size = { textLength: Math.min(previewLength, length), bare: false };
    const share: Share = { match, length, size, tokens: tokensOf(match, size) };
    if (share.tokens > room) {
      if (shares.length === 0) return [onlySize(share, options)];
      break;
    }
    room -= share.tokens;
    shares.push(share);
  }
  grow(shares, room, tokensOf);
  return shares.map(({ size }) => size);
}

/** One match is always shown, or the reader would never get past it: less of its text, then less of everything. */
function onlySize(share: Share, { room, tokensOf }: ShareOptions): ExcerptSize {
  const bare = tokensOf(share.match, { textLength: 0, bare: false }) > room;
  const size = { textLength: 0, bare };
  const only = { ...share, size, tokens: tokensOf(share.match, size) };
  growOne(only, room - only.tokens, tokensOf);
  return only.size;
}

/** Shortest first: what a short text leaves of its share goes to the longer ones. */
function grow(shares: readonly Share[], room: number, tokensOf: ShareOptions['tokensOf']): void {
  const shortestFirst = shares.toSorted((a, b) => a.length - b.length);
  let left = room;
  for (const [index, share] of shortestFirst.entries()) {
    const before = share.tokens;
    growOne(share, Math.max(0, Math.floor(left / (shares.length - index))), tokensOf);
    left -= share.tokens - before;
  }
}

/**
 * A text that costs no more than `extra` tokens above what the match has, and nearly as much: guessed by the price of
 * the text so far known, which is right after a few steps, where halving would take a dozen.
 */
function growOne(share: Share, extra: number, tokensOf: ShareOptions['tokensOf']): void {
  const limit = share.tokens + extra;
  let tooLong = share.length + 1;
  let guess = Math.min(share.length, share.size.textLength + Math.ceil(extra / tokensPerCharacterMin));
  for (let step = 0; step < stepsMax && guess > share.size.textLength; step += 1) {
    const size = { ...share.size, textLength: guess };
    const tokens = tokensOf(share.match, size);
    const price = (tokens - share.tokens) / (guess - share.size.textLength);
    if (tokens > limit) {
      tooLong = guess;
    } else {
      share.size = size;
      share.tokens = tokens;
    }
    const fits = share.size.textLength;
    guess = Math.min(tooLong - 1, fits + Math.floor((limit - share.tokens) / Math.max(price, 0.01)));
  }
}
