import type { Exchange } from '../http/exchange.ts';
import { findTapByToken, type Organization } from './organization.ts';
import { tooManyRequests, unauthorized } from './problems.ts';
import { type Tap, toOffsetTime } from './tap.ts';

/** The tap of the bearer token; a management key is not accepted (firehose.md §2). */
export function authenticateTap({ bearer }: Exchange, organization: Organization): Tap {
  const tap = findTapByToken(organization, bearer);
  if (tap === undefined) throw unauthorized();
  tap.lastUsedAt = toOffsetTime(Date.now());
  return tap;
}

export function authenticateManager({ bearer }: Exchange, { managementKey }: Organization): void {
  if (bearer !== managementKey) throw unauthorized();
}

export function countCall(tap: Tap, limit: keyof Tap['limits']): void {
  const verdict = tap.limits[limit].take();
  if (!verdict.allowed) throw tooManyRequests(verdict.retryAfterMs);
}
