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
