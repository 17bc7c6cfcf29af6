/** 128 random bits. Browsers have `crypto.randomUUID` only on HTTPS pages. */
export function randomHex(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
