import type { AnswerOf, RequestOf } from '@earshot/contract';
import type { Principal } from '../accounts/principal.ts';
import type { Events } from '../observability/events.ts';
import type { Bells } from '../runtime/bell.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { Failure } from '../runtime/failure.ts';
import { changeUnderWay, readRule } from './change-rule.ts';
import { noSuchRule } from './no-such-rule.ts';
import type { RuleChangeStore } from './rule-change-store.ts';
import type { RuleStore } from './rule-store.ts';

export interface PauseRuleOptions {
  readonly store: Pick<RuleStore, 'get'>;
  readonly changes: Pick<RuleChangeStore, 'pause'>;
  readonly bells: Bells;
  readonly checkpoint: Checkpoint;
  readonly events: Events;
}

/** Nothing new is matched from here on; what was matched stays listed. The registrars clean the upstreams. */
export function createPauseRule({ store, changes, bells, checkpoint, events }: PauseRuleOptions) {
  return async (principal: Principal, request: RequestOf<'PauseRule'>): Promise<AnswerOf<'PauseRule'>> => {
    const { accountId } = principal;
    const ruleId = request.rule_id;
    const outcome = await changes.pause(accountId, ruleId);
    if (outcome === 'not_found') throw noSuchRule();
    if (outcome === 'under_way') throw changeUnderWay();
    if (outcome === 'not_active')
      throw new Failure(
        'failed_precondition',
        'The rule is paused already: resume it to hear from it again.',
      );
    checkpoint('pause.written');
    bells.ring('slots');
    events.ruleChanged({ ruleId, accountId, change: 'paused' });
    return await readRule(store, { accountId, ruleId });
  };
}
