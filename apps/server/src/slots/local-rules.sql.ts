import type { Bells } from '../engines/bells.ts';
import type { Database } from '../engines/database.ts';
import { pause } from '../runtime/worker.ts';
import type { LocalRule, LocalRules } from '../upstream/local-rules.ts';
import { slotTag } from './slot.ts';

/** A lost wake-up delays a new rule by this much. */
const pollIntervalMs = 1_000;
/** Many changes are read together. */
const restMs = 100;

export interface LocalRulesOptions {
  readonly database: Database;
  readonly bells: Bells;
  readonly installation: { readonly id: string };
}

/** What would be on the platform: the slots that have a rule there. */
export function createLocalRules({ database, bells, installation }: LocalRulesOptions): LocalRules {
  async function list(sourceId: string): Promise<LocalRule[]> {
    const rows = await database.many<{ slot_id: string; id: string; value: string; since: Date }>(
      `select id as slot_id, upstream_rule_id as id, value, coalesce(registered_at, now()) as since from slots
       where source_id = $1 and upstream_rule_id is not null`,
      [sourceId],
    );
    return rows.map(({ slot_id, ...rule }) => ({ ...rule, tag: slotTag(installation.id, slot_id) }));
  }
  const fingerprintOf = async (sourceId: string) =>
    await database.one(
      `select count(*), max(registered_at)::text, max(confirmed_at)::text, sum(hashtext(upstream_rule_id)) from slots
       where source_id = $1 and upstream_rule_id is not null`,
      [sourceId],
    );
  return {
    list,
    async *changes(sourceId, signal) {
      using bell = bells.listen('streams');
      for (let known: string | null = null; !signal.aborted; ) {
        // While the database is down, the rules stay as they are.
        const fingerprint = await fingerprintOf(sourceId).then(JSON.stringify, () => known);
        if (fingerprint !== known) {
          const listed = await list(sourceId).catch(() => null);
          if (listed !== null) {
            known = fingerprint;
            yield listed;
          }
        }
        await bell.wait(pollIntervalMs, signal);
        await pause(restMs, signal);
      }
    },
  };
}
