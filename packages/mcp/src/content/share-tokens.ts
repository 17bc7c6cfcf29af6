import type { Match } from '@earshot/sdk';
import { type ExcerptSize, lengthOf, textLengthMax } from './untrusted.ts';

interface ShareOptions {
  readonly matches: readonly Match[];
  /** Tokens for all matches together. */
  readonly room: number;
  readonly tokensOf: (match: Match, size: ExcerptSize) => number;
}

/** Each match shows at least this much text before another match is added. */
const previewLength = 140;
const stepsMax = 5;
/** For a first guess. English has more. */
const tokensPerCharacterMin = 0.25;

interface Share {
  readonly match: Match;
  readonly length: number;
  size: ExcerptSize;
  tokens: number;
}

/**
 * Decides how much of each match is shown. As many of the first matches as fit get a preview. The remaining room is shared
 * evenly: no match gets more text while a shorter one is incomplete.
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

/** The first match is always shown, or the reader would never get past it. It loses text first, then other fields. */
function onlySize(share: Share, { room, tokensOf }: ShareOptions): ExcerptSize {
  const bare = tokensOf(share.match, { textLength: 0, bare: false }) > room;
  const size = { textLength: 0, bare };
  const only = { ...share, size, tokens: tokensOf(share.match, size) };
  growOne(only, room - only.tokens, tokensOf);
  return only.size;
}

/** Starts with the shortest text, so that its unused share goes to longer ones. */
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
 * Grows the text by at most `extra` tokens, and nearly as much. It guesses the length from the tokens per character so far,
 * which needs a few steps; bisection would need a dozen.
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
