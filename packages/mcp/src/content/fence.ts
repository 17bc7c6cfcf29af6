import { randomBytes } from 'node:crypto';

/** 128 random bits. In decimal, three digits are one token; in hexadecimal, a token has hardly more than one letter. */
export function newNonce(): string {
  return BigInt(`0x${randomBytes(16).toString('hex')}`)
    .toString()
    .padStart(39, '0');
}

/** Untrusted lines between tags that only Earshot can write, because only it knows the nonce. */
export function fenced(lines: readonly string[], nonce: string): string[] {
  return [`<untrusted-content-${nonce}>`, ...lines, `</untrusted-content-${nonce}>`];
}
