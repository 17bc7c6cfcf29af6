import type { Handler } from '../accounts/call.ts';
import type { Bells } from '../engines/bells.ts';
import type { Events } from '../observability/events.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { noSuchRule } from './no-such-rule.ts';
import type { RuleStore } from './rule-store.ts';

export interface DeleteRuleOptions {
  readonly store: Pick<RuleStore, 'delete'>;
  readonly bells: Bells;
  readonly checkpoint: Checkpoint;
  readonly events: Events;
}

/** The rule and its matches are gone for the caller at once; the registrars clean the upstreams. */
export function deleteRule({ store, bells, checkpoint, events }: DeleteRuleOptions): Handler<'DeleteRule'> {
  return async ({ request, change }) => {
    checkpoint('delete.begin');
    const answer = await store.delete(change, request.rule_id, request.if_version);
    if (!answer) throw noSuchRule();
    checkpoint('delete.written');
    bells.ring('slots');
    checkpoint('delete.announced');
    events.ruleDeleted({ ruleId: request.rule_id, accountId: change.accountId });
    return answer;
  };
}
