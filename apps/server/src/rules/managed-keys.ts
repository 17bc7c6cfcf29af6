import type { Sql } from '../engines/database.ts';
import { type ManagedBy, managedKeyTaken } from './managed-key.ts';
import type { RuleUpdate } from './rule-change-store.ts';
import type { NewRule } from './rule-store.ts';

/** The columns `examples`, `managed_set` and `managed_key` of a new rule. */
export function asCodeColumns({
  examples,
  managedBy,
}: NewRule): [string | null, string | null, string | null] {
  return [examples ? JSON.stringify(examples) : null, managedBy?.set ?? null, managedBy?.key ?? null];
}

/** Work that gives a set's key to a rule. The index decides who gets it, so two at once cannot both. */
export async function givingKey<Result>(
  managedBy: ManagedBy | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (managedBy && error instanceof Error && 'constraint' in error && error.constraint === 'rules_managed')
      throw managedKeyTaken(managedBy);
    throw error;
  }
}

/** Before the upstreams are troubled with a change that could not be applied. */
export async function assertKeyFree(sql: Sql, { accountId, ruleId, managedBy }: RuleUpdate): Promise<void> {
  if (!managedBy) return;
  const holder = await sql.one(
    `select 1 from rules
     where account_id = $1 and managed_set = $2 and managed_key = $3 and state <> 'deleted' and id <> $4`,
    [accountId, managedBy.set, managedBy.key, ruleId],
  );
  if (holder) throw managedKeyTaken(managedBy);
}
