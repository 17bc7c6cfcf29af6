import { setTimeout as wait } from 'node:timers/promises';
import { type FaultScope, type Faults, numberParam, textParam } from './faults.ts';
import { type Exchange, Refusal } from './http/exchange.ts';
import { isJsonObject } from './http/json.ts';

/** `rules_status`: the call is turned down before anything happens. */
export function refuseRuleCall(faults: Faults, scope: FaultScope, { method }: Exchange): void {
  const fault = faults.take('rules_status', scope, (params) => (params['method'] ?? method) === method);
  if (fault !== undefined) throw statusRefusal(fault.params, 503);
}

/** `rule_refused`: the words with which a rule is turned down, when one is armed for this value. */
export function refuseRule(faults: Faults, scope: FaultScope, value: string): string | undefined {
  const fault = faults.take('rule_refused', scope, (params) =>
    value.includes(textParam(params, 'contains', '')),
  );
  return fault && textParam(fault.params, 'message', 'The sandbox was told to refuse this rule');
}

/**
 * `rules_delay` and `rules_lost_answer`, to be called after the change was made and before the answer is sent.
 * Returns false when the answer must not be sent: its socket is gone.
 */
export async function holdRuleAnswer(
  faults: Faults,
  scope: FaultScope,
  { response }: Exchange,
): Promise<boolean> {
  const delay = faults.take('rules_delay', scope);
  if (delay !== undefined) await wait(numberParam(delay.params, 'ms', 1_000));
  if (faults.take('rules_lost_answer', scope) === undefined) return true;
  response.destroy();
  return false;
}

/** `stream_status`: a connection attempt is turned down. */
export function refuseStream(faults: Faults, scope: FaultScope): void {
  const fault = faults.take('stream_status', scope);
  if (fault !== undefined) throw statusRefusal(fault.params, 503);
}

function statusRefusal(params: Record<string, unknown>, otherwise: number): Refusal {
  const status = numberParam(params, 'status', otherwise);
  const detail = textParam(params, 'message', 'The sandbox was told to answer so.');
  const plain = { title: `Status ${status}`, type: 'about:blank', status, detail, message: detail };
  const retryAfterS = numberParam(params, 'retry_after', 0);
  return new Refusal(
    status,
    isJsonObject(params['body']) ? params['body'] : plain,
    retryAfterS === 0 ? {} : { 'retry-after': String(retryAfterS) },
  );
}
