import type { Database, Sql } from '../engines/database.ts';
import type { Lease } from '../engines/leases.ts';
import type { LastEvent } from '../event-log/log-progress.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Repair } from '../upstream/platform.ts';
import type { Gap, RepairStore } from './repair-store.sql.ts';

/** Evidence about a source whose platform replays missed items. */
export interface ReplayEvidence {
  /** The newest event of the source in the event log, if any. */
  readonly lastEvent: { readonly loggedAt: Date; readonly matchedAt: Date | null } | null;
  /** The open interval, or the last one. */
  readonly latest: { readonly from: Date; readonly provenUntil: Date };
  /** How long the platform can replay an item. */
  readonly keptMs: number;
}

/** Tolerated difference between the platform's clock and ours. */
const clockMarginMs = 5_000;
/** A proof covers what arrived up to a second before it. */
const proofMarginMs = 1_000;
/** A replay delivers without pauses, so it has ended after this long without an event. */
const silenceMs = 10_000;

/**
 * Decides whether the replay has passed the gap. The platform delivers items in match order, and each connection
 * resumes where the event log ends. So one event from after the gap proves that all earlier ones arrived. On a quiet
 * stream there is no such event: a stream that is open, proven and silent has nothing left to replay. The end of a
 * stream proves nothing, because Firehose ends each stream after 300 s.
 */
export function judgeReplay(
  gap: Gap,
  { lastEvent, latest, keptMs }: ReplayEvidence,
): 'through' | 'not_yet' | 'too_long' {
  if (gap.to.getTime() - gap.from.getTime() > keptMs) return 'too_long';
  const provenUntil = latest.provenUntil.getTime();
  const loggedAt = lastEvent?.loggedAt.getTime() ?? Number.NEGATIVE_INFINITY;
  const matchedAt = lastEvent?.matchedAt?.getTime() ?? Number.NEGATIVE_INFINITY;
  const isPast = matchedAt > gap.to.getTime() + clockMarginMs && provenUntil > loggedAt + proofMarginMs;
  const isSilent = provenUntil - Math.max(latest.from.getTime(), loggedAt) > silenceMs;
  return isPast || isSilent ? 'through' : 'not_yet';
}

export interface SettleReplayedOptions {
  readonly sourceId: string;
  readonly database: Database;
  readonly store: Pick<RepairStore, 'openGaps' | 'settleWhole'>;
  readonly lastEvent: (sourceId: string) => Promise<LastEvent | null>;
  readonly repair: Extract<Repair, { by: 'replay' }>;
  readonly telemetry: Telemetry;
}

/** Records which gaps the stream has repaired by resuming. */
export async function settleReplayed(options: SettleReplayedOptions, lease: Lease): Promise<void> {
  const { sourceId, database, store, repair, telemetry } = options;
  const gaps = await store.openGaps(sourceId, 0);
  if (gaps.length === 0) return;
  // The order matters: an event that is logged between the two reads must not look older than the proof.
  const latest = await readLatestInterval(database, sourceId);
  const last = await options.lastEvent(sourceId);
  const lastEvent = last && { loggedAt: last.loggedAt, matchedAt: repair.matchedAt(last.event) };
  if (!latest) return;
  for (const gap of gaps) {
    const verdict = judgeReplay(gap, { lastEvent, latest, keptMs: repair.keptMs });
    if (verdict === 'not_yet') continue;
    const isThrough = verdict === 'through';
    await store.settleWhole(lease, gap, {
      repair: isThrough ? 'repaired' : 'none',
      via: 'replay',
      because: isThrough ? null : 'longer_than_replay',
    });
    if (isThrough) telemetry.gapRepaired({ sourceId, from: gap.from, to: gap.to, via: 'replay' });
  }
}

/** Null if the source has never connected. */
async function readLatestInterval(sql: Sql, sourceId: string): Promise<ReplayEvidence['latest'] | null> {
  const row = await sql.one<{ from_at: Date; proven_until: Date }>(
    'select from_at, proven_until from coverage where source_id = $1 order by from_at desc limit 1',
    [sourceId],
  );
  return row && { from: row.from_at, provenUntil: row.proven_until };
}
