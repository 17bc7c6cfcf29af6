import type { Archive, ArchiveFormat } from '@earshot/contract';

/** The columns of an `ArchiveRow`. */
export const shown = `id, name, endpoint, region, bucket, prefix, access_key_id, format, rule_ids, failing_since, problem, covered_until,
  created_at`;

export interface ArchiveRow {
  readonly id: string;
  readonly name: string;
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly access_key_id: string;
  readonly format: ArchiveFormat;
  readonly rule_ids: string[] | null;
  readonly failing_since: Date | null;
  readonly problem: string | null;
  readonly covered_until: Date;
  readonly created_at: Date;
}

export function toArchive(row: ArchiveRow): Archive {
  return {
    id: row.id,
    ...settingsOf(row),
    state: row.failing_since === null ? 'active' : 'failing',
    message: row.problem,
    failing_since: row.failing_since?.toISOString() ?? null,
    covered_through: row.covered_until.toISOString(),
    created_at: row.created_at.toISOString(),
  };
}

/** The settings of the owner for answers and the audit log, without the secret. */
export function settingsOf(row: ArchiveRow) {
  const { name, endpoint, region, bucket, prefix, access_key_id, format, rule_ids } = row;
  return { name, endpoint, region, bucket, prefix, access_key_id, format, rule_ids };
}
