import type { AnswerOf } from '@earshot/contract';
import { type Change, keepAnswer } from '../accounts/change.ts';
import type { Database, Sql } from '../engines/database.ts';
import { newId } from '../runtime/ids.ts';
import { joinCalls } from '../runtime/join-calls.ts';
import type { RuleStore } from './rule-store.ts';

interface Activation {
  readonly change: Change;
  readonly answer: AnswerOf<'CreateRule'>;
}

/** The registrar's ring wakes many at once: what they write goes into one transaction, unless it has a claim. */
export function createActivate(database: Database): RuleStore['activate'] {
  const joined = joinCalls((activations: readonly Activation[]) => activateAll(database, activations));
  return async (change, answer) => {
    if (change.claim === null) return await joined({ change, answer });
    return await database.transaction(async (sql) => {
      const [activated = false] = await activateAll(sql, [{ change, answer }]);
      if (activated) await keepAnswer(sql, change, answer);
      return activated;
    });
  };
}

/** With their audit, in one statement. Locked in the order of their ids, as two batches must not wait for each other. */
async function activateAll(sql: Sql, activations: readonly Activation[]): Promise<boolean[]> {
  const rows = await sql.prepared<{ id: string }>(
    `with asked as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
         as asked (rule_id, audit_id, actor, operation, request_id)
     ), mine as (
       select id from rules where id = any($1) and state = 'creating' order by id for update
     ), active as (
       update rules set state = 'active' from mine where rules.id = mine.id returning rules.id, account_id, name
     ), new_audit as (
       insert into audit (id, account_id, actor, operation, target_id, before, after, request_id)
       select audit_id, account_id, actor, operation, active.id, null,
         json_build_object('name', name, 'state', 'active'), request_id
       from active join asked on asked.rule_id = active.id
     )
     select id from active`,
    [
      activations.map(({ answer }) => answer.rule_id),
      activations.map(() => newId('aud')),
      activations.map(({ change }) => change.actor),
      activations.map(({ change }) => change.operation),
      activations.map(({ change }) => change.requestId),
    ],
  );
  const activated = new Set(rows.map(({ id }) => id));
  return activations.map(({ answer }) => activated.has(answer.rule_id));
}
