import type { AnswerOf, RequestOf } from '@earshot/contract';
import type { Principal } from '../accounts/principal.ts';
import type { Events } from '../observability/events.ts';
import type { Bells } from '../runtime/bell.ts';
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
export function createDeleteRule({ store, bells, checkpoint, events }: DeleteRuleOptions) {
  return async (principal: Principal, request: RequestOf<'DeleteRule'>): Promise<AnswerOf<'DeleteRule'>> => {
    checkpoint('delete.begin');
    const deletedAt = await store.delete(principal.accountId, request.rule_id);
    if (!deletedAt) throw noSuchRule();
    checkpoint('delete.written');
    bells.ring('slots');
    checkpoint('delete.announced');
    events.ruleDeleted({ ruleId: request.rule_id, accountId: principal.accountId });
    return { rule_id: request.rule_id, deleted_at: deletedAt.toISOString() };
  };
}
