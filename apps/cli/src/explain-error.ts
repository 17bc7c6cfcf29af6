import { EarshotError } from '@earshot/sdk';
import { type Ending, isFailure } from './failure.ts';
import { renderFinding } from './output/findings.ts';
import { jsonLine, spaced } from './output/printable.ts';

const endings: Readonly<Record<EarshotError['code'], Ending>> = {
  invalid_argument: 'invalid',
  failed_precondition: 'failed',
  out_of_range: 'failed',
  unauthenticated: 'refused',
  permission_denied: 'refused',
  not_found: 'notFound',
  already_exists: 'failed',
  aborted: 'unavailable',
  resource_exhausted: 'unavailable',
  internal: 'failed',
  unimplemented: 'failed',
  unavailable: 'unavailable',
  deadline_exceeded: 'unavailable',
  unknown: 'failed',
};

export function endingOf(error: unknown): Ending {
  if (isFailure(error)) return error.ending;
  if (!(error instanceof EarshotError)) return 'failed';
  return isLasting(error) ? 'refused' : endings[error.code];
}

/** Waiting does not help: something must be deleted, or the limit raised. */
function isLasting({ code, retryable }: EarshotError): boolean {
  return code === 'resource_exhausted' && !retryable;
}

/** The error for programs: that of the API as it is, and one of the same shape for what never reached it. */
export function errorAsJson(error: unknown): string {
  if (error instanceof EarshotError) {
    const { code, message, details } = error;
    return jsonLine({ code, message, details });
  }
  return jsonLine({ code: endingOf(error), message: words(error), details: {} });
}

/** The error for people. `typed` are the options of the command: the values that the error speaks of. */
export function explainError(
  error: unknown,
  typed: Readonly<Record<string, unknown>>,
  columns: number,
): string {
  if (!(error instanceof EarshotError)) return words(error);
  const { violations = [] } = error.details;
  const findings = violations.map((violation) => {
    const { option, value } = typedFor(violation.field, typed);
    return renderFinding(violation, { option, value, columns });
  });
  const head = findings.length > 0 ? [] : [headline(error), ...causeOf(error)];
  return [...head, ...findings, ...adviceFor(error)].join('\n');
}

/** The API speaks of headers to somebody who writes none, and may repeat what a platform said. */
function headline({ code, message }: EarshotError): string {
  return code === 'unauthenticated' ? 'The server does not accept the key.' : spaced(message);
}

/** Where the field of a request was typed. */
function typedFor(
  field: string,
  typed: Readonly<Record<string, unknown>>,
): { option: string; value: string | undefined } {
  const name = optionNames[field] ?? field.replace(/^overrides\./, '');
  const value = typed[name];
  const isTyped = Object.hasOwn(typed, name);
  return { option: isTyped ? `--${name}` : field, value: typeof value === 'string' ? value : undefined };
}

const optionNames: Readonly<Record<string, string>> = { expires_at: 'expires', rule_id: 'rule' };

function adviceFor({ code, details, requestId }: EarshotError): string[] {
  if (code === 'unauthenticated') return ['Log in with a key that works: earshot login'];
  if (details.required_scope !== undefined) {
    return [
      `It lacks the scope ${details.required_scope}. A key that has it makes others: earshot keys create`,
    ];
  }
  const isOurFault = code === 'internal' || code === 'unknown';
  return isOurFault && requestId !== undefined ? [`Name this request when you report it: ${requestId}`] : [];
}

function causeOf({ cause }: EarshotError): string[] {
  return cause === undefined ? [] : [`Cause: ${words(cause)}`];
}

/** fetch hides why it failed in the cause of its error, and a refused connection has no message at all. */
function words(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError) return error.errors.map(words).join('; ');
  if (error.cause === undefined) return error.message;
  return error.message === 'fetch failed'
    ? words(error.cause)
    : `${error.message}\nCause: ${words(error.cause)}`;
}
