/**
 * A clock that counts on from a time that the database returned just now. What is compared with stored times is compared with it:
 * the clock of one node may be wrong, and then the others must not suffer from what it stored.
 */
export function clockFrom(time: Date): () => number {
  const readAt = performance.now();
  return () => time.getTime() + performance.now() - readAt;
}
