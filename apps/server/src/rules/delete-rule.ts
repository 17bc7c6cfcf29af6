import type { Handler } from '../accounts/call.ts';
import type { Bells } from '../engines/bells.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { noSuchRule } from './refusals.ts';
import type { RuleStore } from './rule-store.sql.ts';

export interface DeleteRuleOptions {
  readonly store: Pick<RuleStore, 'delete'>;
  readonly bells: Bells;
  readonly checkpoint: Checkpoint;
  readonly telemetry: Telemetry;
}

/** From now on the caller sees neither the rule nor its matches. The registrars remove its upstream rules. */
export function deleteRule({
  store,
  bells,
  checkpoint,
  telemetry,
}: DeleteRuleOptions): Handler<'DeleteRule'> {
  return async ({ request, change }) => {
    checkpoint('delete.begin');
    const answer = await store.delete(change, request.rule_id, request.if_version);
    if (!answer) throw noSuchRule();
    checkpoint('delete.written');
    bells.ring('slots');
    checkpoint('delete.announced');
    telemetry.ruleDeleted({ ruleId: request.rule_id, accountId: change.accountId });
    return answer;
  };
}
