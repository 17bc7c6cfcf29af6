import type { Platform } from '@earshot/contract';
import type { Database } from '../engines/database.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { ReadUsage } from '../upstream/platform.ts';
import { platforms } from '../upstream/platforms.ts';
import { UpstreamUnavailable } from '../upstream/upstream-rules.ts';

const hourMs = 3_600_000;
/** Upstreams count late, so a day is compared only after it has been over for this long. */
const settledAfterMs = 6 * hourMs;

export interface CompareUsageOptions {
  readonly database: Database;
  readonly sourceId: string;
  readonly platform: Platform;
  readonly readUsage: ReadUsage;
  readonly telemetry: Telemetry;
  readonly nowMs: () => number;
}

interface CheckRow {
  day: string;
  reported: number | null;
}

/** Compares yesterday's bill with the upstream's own count, once. An upstream without a count is logged once. */
export async function compareUsage(options: CompareUsageOptions, signal: AbortSignal): Promise<void> {
  const { database, sourceId, readUsage, telemetry, nowMs } = options;
  const day = new Date(nowMs() - settledAfterMs - 24 * hourMs).toISOString().slice(0, 10);
  const last = await database.one<CheckRow>(
    'select day::text, reported from usage_checks where source_id = $1',
    [sourceId],
  );
  if (last && last.day >= day) return;
  let reported: number | null;
  try {
    const byDay = await readUsage(signal);
    if (byDay !== null && !byDay.has(day)) return;
    reported = byDay?.get(day) ?? null;
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof UpstreamUnavailable)) throw error;
    telemetry.usageCheckPostponed({ sourceId, err: error });
    return;
  }
  await recordCheck(options, day, reported);
  if (reported === null && last?.reported !== null) telemetry.usageNotReported({ sourceId });
}

async function recordCheck(
  { database, sourceId, platform, telemetry }: CompareUsageOptions,
  day: string,
  reported: number | null,
): Promise<void> {
  const [ours] = await database.many<{ atLeast: number; atMost: number }>(
    `with ours as (
       select coalesce(sum(at_least), 0)::bigint as at_least, coalesce(sum(at_most), 0)::bigint as at_most
       from source_usage where source_id = $1 and day = $2 and kind = $4
     )
     insert into usage_checks (source_id, day, reported, at_least, at_most) select $1, $2, $3, at_least, at_most from ours
     on conflict (source_id) do update set day = excluded.day, reported = excluded.reported,
       at_least = excluded.at_least, at_most = excluded.at_most
     returning at_least as "atLeast", at_most as "atMost"`,
    [sourceId, day, reported, platforms[platform].billing.itemKind],
  );
  if (ours && reported !== null) telemetry.usageCompared({ sourceId, day, reported, ...ours });
}
