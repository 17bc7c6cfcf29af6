import { hash } from 'node:crypto';

const base32 = 'abcdefghijklmnopqrstuvwxyz234567';
const sortableBase32 = '234567abcdefghijklmnopqrstuvwxyz';
/** The last two letters of a TID identify the clock that made it. */
const clockLetters = '2k';

/** A handle always gets the same DID. */
export function didOf(handle: string): string {
  return `did:plc:${toBase32(sha256(handle.toLowerCase())).slice(0, 24)}`;
}

/**
 * A CID of version 1 with SHA-256. It identifies the JSON, not the DAG-CBOR encoding, so a client cannot verify a
 * record against it.
 */
export function cidOf(codec: 'record' | 'blob', content: string): string {
  const prefix = [1, codec === 'record' ? 0x71 : 0x55, 0x12, 0x20];
  return `b${toBase32(Buffer.concat([Buffer.from(prefix), sha256(content)]))}`;
}

/** Returns TIDs that only grow: a time in microseconds in sortable base 32. */
export function createTids(): (atUs: number) => string {
  let lastUs = 0;
  return (atUs) => {
    lastUs = Math.max(lastUs + 1, atUs);
    let letters = clockLetters;
    for (let rest = lastUs; letters.length < 13; rest = Math.floor(rest / 32))
      letters = `${sortableBase32[rest % 32]}${letters}`;
    return letters;
  };
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

function toBase32(bytes: Buffer): string {
  let letters = '';
  let bits = 0;
  let count = 0;
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xfff;
    count += 8;
    for (; count >= 5; count -= 5) letters += base32[(bits >>> (count - 5)) & 31];
  }
  return count === 0 ? letters : letters + base32[(bits << (5 - count)) & 31];
}
