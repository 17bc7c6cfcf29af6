import { setTimeout as wait } from 'node:timers/promises';
import { type FaultScope, type Faults, numberParam, textParam } from './faults.ts';
import { type Exchange, Refusal } from './http/exchange.ts';
import { isJsonObject, type JsonObject } from './http/json.ts';

/** `rules_status`: refuses the call before it changes anything. */
export function refuseRuleCall(faults: Faults, scope: FaultScope, { method }: Exchange): void {
  const fault = faults.take('rules_status', scope, (params) => (params['method'] ?? method) === method);
  if (fault !== undefined) throw statusRefusal(fault.params);
}

/** `rule_refused`: the refusal message for this query; undefined if no fault is armed for it. */
export function refuseRule(faults: Faults, scope: FaultScope, value: string): string | undefined {
  const fault = faults.take('rule_refused', scope, (params) =>
    value.includes(textParam(params, 'contains', '')),
  );
  return fault && textParam(fault.params, 'message', 'The sandbox is set to refuse this rule');
}

/**
 * `rules_delay` and `rules_lost_answer`: call it between the change and its response. Returns false when the
 * socket was destroyed and there is no response to send.
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

/** `stream_status`: refuses a connection. */
export function refuseStream(faults: Faults, scope: FaultScope): void {
  const fault = faults.take('stream_status', scope);
  if (fault !== undefined) throw statusRefusal(fault.params);
}

/** `plain` is the body unless the fault has one. */
export function statusRefusal(
  params: JsonObject,
  plain: (message: string, status: number) => object = describeStatus,
): Refusal {
  const status = numberParam(params, 'status', 503);
  const detail = textParam(params, 'message', 'The sandbox is set to send this status.');
  const retryAfterSeconds = numberParam(params, 'retry_after', 0);
  return new Refusal(
    status,
    isJsonObject(params['body']) ? params['body'] : plain(detail, status),
    retryAfterSeconds === 0 ? {} : { 'retry-after': String(retryAfterSeconds) },
  );
}

function describeStatus(detail: string, status: number): object {
  return { title: `Status ${status}`, type: 'about:blank', status, detail, message: detail };
}
