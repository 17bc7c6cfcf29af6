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

/** Whether waiting does not help, because you must delete something or get a higher limit. */
function isLasting({ code, retryable }: EarshotError): boolean {
  return code === 'resource_exhausted' && !retryable;
}

/** The error for programs: the API's error unchanged, or a local error in the same form. */
export function errorAsJson(error: unknown): string {
  if (error instanceof EarshotError) {
    const { code, message, details } = error;
    return jsonLine({ code, message, details });
  }
  return jsonLine({ code: endingOf(error), message: words(error), details: {} });
}

/** The error for people. `typed` are the options of the command, to quote the values of violations. */
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

/** Replaces the API's message about headers. Other messages may contain text of a platform. */
function headline({ code, message }: EarshotError): string {
  return code === 'unauthenticated' ? 'The server does not accept the key.' : spaced(message);
}

/** The option and the value of a request's field. */
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
  if (code === 'unauthenticated') return ['Log in with a valid key: earshot login'];
  if (details.required_scope !== undefined) {
    return [
      `Use a key with the scope ${details.required_scope}. A key that has it can create others: earshot keys create`,
    ];
  }
  const isFault = code === 'internal' || code === 'unknown';
  return isFault && requestId !== undefined ? [`If you report this error, include: ${requestId}`] : [];
}

function causeOf({ cause }: EarshotError): string[] {
  return cause === undefined ? [] : [`Cause: ${words(cause)}`];
}

/** The cause of a fetch error has the reason, and the error of a refused connection has no message. */
function words(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError) return error.errors.map(words).join('; ');
  if (error.cause === undefined) return error.message;
  return error.message === 'fetch failed'
    ? words(error.cause)
    : `${error.message}\nCause: ${words(error.cause)}`;
}
