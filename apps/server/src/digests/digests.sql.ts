import type { Digest, Platform, RelevanceFilter } from '@earshot/contract';
import type { Schedule } from './schedule.ts';

/** The columns of a `DigestRow`. */
export const shown = `id, name, rule_ids, platform, relevance, grouping, cron, time_zone, window_seconds, webhook_id, emails, min_matches, empty,
  max_matches, next_at, last_number, last_sent_at, problem, created_at, updated_at`;

export interface DigestRow {
  readonly id: string;
  readonly name: string;
  readonly rule_ids: string[] | null;
  readonly platform: Platform | null;
  readonly relevance: RelevanceFilter;
  readonly grouping: Digest['group'];
  readonly cron: string | null;
  readonly time_zone: string | null;
  readonly window_seconds: number | null;
  readonly webhook_id: string | null;
  readonly emails: string[] | null;
  readonly min_matches: number;
  readonly empty: Digest['empty'];
  readonly max_matches: number;
  readonly next_at: Date;
  readonly last_number: number;
  readonly last_sent_at: Date | null;
  readonly problem: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export function toDigest(row: DigestRow): Digest {
  return {
    id: row.id,
    ...settingsOf(row),
    next_at: row.next_at.toISOString(),
    last_number: row.last_number,
    last_sent_at: row.last_sent_at?.toISOString() ?? null,
    message: row.problem,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** The settings of the owner, which are also audited. */
export function settingsOf(row: DigestRow) {
  const { name, rule_ids, platform, relevance, grouping: group, min_matches, empty, max_matches } = row;
  return {
    name,
    rule_ids,
    platform,
    relevance,
    group,
    schedule:
      row.window_seconds === null
        ? { cron: row.cron ?? '', time_zone: row.time_zone ?? '' }
        : { window_seconds: row.window_seconds },
    recipients: row.webhook_id === null ? { email: row.emails ?? [] } : { webhook_id: row.webhook_id },
    min_matches,
    empty,
    max_matches,
  };
}

export function scheduleOf(
  row: Pick<DigestRow, 'cron' | 'time_zone' | 'window_seconds' | 'created_at'>,
): Schedule {
  if (row.window_seconds !== null)
    return { windowSeconds: row.window_seconds, sinceMs: row.created_at.getTime() };
  return { cron: row.cron ?? '', timeZone: row.time_zone ?? '' };
}
