import type { Answers } from '@earshot/sdk';

export type AuditEntry = Answers['ListAudit']['entries'][number];

export interface Change {
  readonly field: string;
  /** Null if the field did not exist. */
  readonly before: string | null;
  readonly after: string | null;
}

/** The fields that differ. Nested fields have paths such as `platforms.x.value`. */
export function changesOf({ before, after }: Pick<AuditEntry, 'before' | 'after'>): Change[] {
  const [old, current] = [flatten(before ?? {}), flatten(after ?? {})];
  const fields = [...new Set([...old.keys(), ...current.keys()])].toSorted();
  return fields
    .map((field) => ({ field, before: old.get(field) ?? null, after: current.get(field) ?? null }))
    .filter((change) => change.before !== change.after);
}

function flatten(state: object, prefix = ''): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of Object.entries(state)) {
    const path = prefix + name;
    if (isPlainObject(value)) for (const [inner, text] of flatten(value, `${path}.`)) fields.set(inner, text);
    else fields.set(path, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return fields;
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface AuditFilter {
  readonly actor: string;
  readonly operation: string;
  /** Part of an id. */
  readonly target: string;
}

export function matchesFilter(entry: AuditEntry, { actor, operation, target }: AuditFilter): boolean {
  return (
    (actor === '' || entry.actor === actor) &&
    (operation === '' || entry.operation === operation) &&
    (target === '' || entry.target_id.includes(target))
  );
}

/** The page of the target, or null if the console has none. */
export function targetPath(id: string): string | null {
  if (id.startsWith('rule_')) return `/rules/${encodeURIComponent(id)}`;
  if (id.startsWith('whk_')) return `/webhooks/${encodeURIComponent(id)}`;
  return id.startsWith('key_') ? '/keys' : null;
}

const shortMax = 60;

/** A single short change in full, otherwise only the names of the changed fields. */
export function summariseChanges(changes: readonly Change[]): string {
  if (changes.length === 0) return 'no changes';
  const names = changes.map(({ field }) => field).join(', ');
  const [only] = changes;
  if (!only || changes.length > 1) return names;
  const whole = `${only.field}: ${only.before ?? '–'} → ${only.after ?? '–'}`;
  return whole.length > shortMax ? names : whole;
}

/** The name of the target: the current one, or the last one if the target was deleted. */
export function targetName({ before, after }: Pick<AuditEntry, 'before' | 'after'>): string | null {
  const name = after?.['name'] ?? before?.['name'];
  return typeof name === 'string' ? name : null;
}
