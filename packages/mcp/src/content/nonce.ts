import { randomBytes } from 'node:crypto';

/** 128 random bits. In decimal: three digits are one token, of hexadecimal hardly more than one letter is. */
export function newNonce(): string {
  return BigInt(`0x${randomBytes(16).toString('hex')}`)
    .toString()
    .padStart(39, '0');
}
