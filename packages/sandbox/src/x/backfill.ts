import type { Deps } from '../deps.ts';
import type { XApp } from './app.ts';
import type { XConnection } from './connections.ts';

export function mayBackfill({ plan }: XApp): boolean {
  return plan === 'enterprise' || plan === 'embedding';
}

export function readBackfillMinutes(app: XApp, query: URLSearchParams): number {
  const given = query.get('backfill_minutes');
  if (given === null || !mayBackfill(app)) return 0;
  if (!/^[0-5]$/.test(given)) throw app.problems.invalidParameter('backfill_minutes', given);
  return Number(given);
}

/** Sends the matches of the last minutes, oldest first. Delivered posts arrive again, and cost nothing on the same day. */
export function sendBackfill(
  app: XApp,
  connection: XConnection,
  minutes: number,
  { archive, clock }: Pick<Deps, 'archive' | 'clock'>,
): void {
  const nowMs = clock.nowMs();
  for (const post of archive.between(nowMs - minutes * 60_000, nowMs + 1)) {
    const rules = app.liveRules.matching(post);
    const record = rules.length === 0 ? undefined : connection.deliver(post, rules);
    if (record !== undefined) app.meter.count(nowMs, record);
  }
}
