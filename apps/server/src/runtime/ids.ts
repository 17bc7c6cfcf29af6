import { randomBytes } from 'node:crypto';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Opaque id: prefix, 48 bits of milliseconds, 80 random bits. Sorts by time of creation. */
export function newId(prefix: string, nowMs: number = Date.now()): string {
  let time = '';
  for (let rest = nowMs, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) {
    time = alphabet.charAt(rest % 32) + time;
  }
  let random = '';
  for (const byte of randomBytes(16)) random += alphabet.charAt(byte % 32);
  return `${prefix}_${time}${random}`;
}

const digits = '0123456789abcdefghijklmnopqrstuvwxyz';
const idLength = 12;

/**
 * A match's public id is its position in the match log, so ids sort in the order of the log and need no index. Two ids
 * show how many matches the installation stored in between, as cursors do. In a self-hosted service, that is acceptable.
 */
export function matchIdOf(position: number): string {
  return `mat_${textOf(position)}`;
}

/** A story has the position of its first match. */
export function storyIdOf(position: number): string {
  return `story_${textOf(position)}`;
}

function textOf(position: number): string {
  let text = '';
  for (let rest = position, digit = 0; digit < idLength; digit++, rest = Math.floor(rest / digits.length)) {
    text = digits.charAt(rest % digits.length) + text;
  }
  return text;
}

/** Null if it is not the id of a match. */
export function positionOf(matchId: string): number | null {
  return parsePosition(/^mat_([0-9a-z]{12})$/.exec(matchId)?.[1]);
}

/** Null if it is not the id of a story. */
export function positionOfStory(storyId: string): number | null {
  return parsePosition(/^story_([0-9a-z]{12})$/.exec(storyId)?.[1]);
}

function parsePosition(text: string | undefined): number | null {
  const position = text === undefined ? Number.NaN : Number.parseInt(text, digits.length);
  return Number.isSafeInteger(position) ? position : null;
}
