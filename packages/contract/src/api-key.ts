/**
 * An API key is `esk_`, 32 random base62 characters, and 6 base62 characters of CRC-32 over those 32.
 * The checksum is no secret: it refuses typos without a database, and lets scanners find leaked keys.
 */
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'esk_';
const BODY_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const bodyPattern = new RegExp(`^[0-9A-Za-z]{${BODY_LENGTH}}$`);

/** Makes the key from its 32 random base62 characters; the randomness is the caller's. */
export function formatKey(body: string): string {
  if (!bodyPattern.test(body)) throw new TypeError(`A key body is ${BODY_LENGTH} base62 characters.`);
  return PREFIX + body + keyChecksum(body);
}

export function isWellFormedKey(text: string): boolean {
  if (text.length !== PREFIX.length + BODY_LENGTH + CHECKSUM_LENGTH || !text.startsWith(PREFIX)) return false;
  const body = text.slice(PREFIX.length, -CHECKSUM_LENGTH);
  return bodyPattern.test(body) && text.endsWith(keyChecksum(body));
}

export function keyChecksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = base62.charAt(rest % base62.length) + digits;
    rest = Math.floor(rest / base62.length);
  }
  return digits;
}

/** CRC-32 (IEEE 802.3, reflected) of ASCII text, bit by bit: 32 characters need no table. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index += 1) {
    crc ^= text.charCodeAt(index);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
