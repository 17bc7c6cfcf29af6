import type { Bells } from '../engines/bells.ts';
import type { Database } from '../engines/database.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { answerWithinMs } from './await-registration.ts';
import { undoChange } from './rule-changes.sql.ts';
import type { RuleStore } from './rule-store.sql.ts';

/** Longer than a creation or a change may take, so that no request still waits for it. */
const abandonedAfterMs = answerWithinMs + 2_000;
const batchMax = 100;

/** Undoes creations and changes whose process died before it answered. */
export async function undoAbandoned(options: {
  readonly database: Database;
  readonly store: Pick<RuleStore, 'abandonOlderThan'>;
  readonly bells: Bells;
  readonly telemetry: Telemetry;
}): Promise<void> {
  const { database, store, bells, telemetry } = options;
  const creations = await store.abandonOlderThan(abandonedAfterMs);
  const changes = await undoChangesOlderThan(database, abandonedAfterMs);
  telemetry.abandonedCreationsUndone(creations);
  telemetry.abandonedChangesUndone(changes);
  if (creations + changes > 0) bells.ring('slots');
}

/** Returns how many changes it undid, each in its own transaction. */
export async function undoChangesOlderThan(database: Database, ms: number): Promise<number> {
  const rules = await database.many<{ id: string }>(
    `select id from rules where changing_to is not null and state <> 'deleted'
       and changing_since < now() - $1 * interval '1 ms' limit $2`,
    [ms, batchMax],
  );
  for (const { id } of rules) await database.transaction((sql) => undoChange(sql, id));
  return rules.length;
}
