import { createHash, randomBytes } from 'node:crypto';

/*
 * The token in the URL of a feed: 192 random bits. Only its SHA-256 is stored. The prefix lets scanners find leaked URLs, and the logger
 * mask them.
 */

export const feedFormats = ['atom', 'json'] as const;
export type FeedFormat = (typeof feedFormats)[number];

export function newToken(): string {
  return `esf_${randomBytes(24).toString('base64url')}`;
}

export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

export function feedPath(token: string, format: FeedFormat): string {
  return `/feeds/${token}.${format}`;
}

/** Null if it cannot be the file name of a feed. */
export function parseFeedFile(file: string): { readonly token: string; readonly format: FeedFormat } | null {
  const [, token, format] = /^(esf_[\w-]{32})\.(atom|json)$/.exec(file) ?? [];
  if (token === undefined) return null;
  return { token, format: format === 'json' ? 'json' : 'atom' };
}
