import type { Handler } from '../accounts/call.ts';
import type { Bells } from '../engines/bells.ts';
import type { Events } from '../observability/events.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { Failure } from '../runtime/failure.ts';
import { changeUnderWay } from './change-rule.ts';
import { noSuchRule } from './no-such-rule.ts';
import type { RuleChangeStore } from './rule-change-store.ts';

export interface PauseRuleOptions {
  readonly changes: Pick<RuleChangeStore, 'pause'>;
  readonly bells: Bells;
  readonly checkpoint: Checkpoint;
  readonly events: Events;
}

/** Nothing new is matched from here on; what was matched stays listed. The registrars clean the upstreams. */
export function pauseRule({ changes, bells, checkpoint, events }: PauseRuleOptions): Handler<'PauseRule'> {
  return async ({ request, change }) => {
    const { accountId } = change;
    const ruleId = request.rule_id;
    const outcome = await changes.pause(ruleId, change);
    switch (outcome.kind) {
      case 'paused':
        break;
      case 'not_found':
        throw noSuchRule();
      case 'under_way':
        throw changeUnderWay();
      case 'not_active':
        throw new Failure(
          'failed_precondition',
          'The rule is paused already: resume it to hear from it again.',
        );
    }
    checkpoint('pause.written');
    bells.ring('slots');
    events.ruleChanged({ ruleId, accountId, change: 'paused' });
    return outcome.rule;
  };
}
