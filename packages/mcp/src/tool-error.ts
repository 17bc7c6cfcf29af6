import { errorCodes, type Platform, platforms, type Violation } from '@earshot/contract';
import { corrected, languages } from '@earshot/query';
import { EarshotError } from '@earshot/sdk';
import { Declined, NeedsConfirmation } from './confirm-cost.ts';
import { writeReadable } from './content/readable.ts';
import { visible } from './content/visible.ts';
import { type Finding, firstFindings, renderFinding, toFinding } from './finding.ts';
import { InvalidArguments, type Tool } from './tool.ts';

/** The key of the error in the `_meta` of a result, for programs. */
export const errorKey = 'earshot/error';

export interface ToolErrorResult {
  readonly answer: {
    readonly content: { readonly type: 'text'; readonly text: string }[];
    readonly isError: true;
    readonly _meta: { readonly [errorKey]: DescribedError };
  };
  /** A bug in Earshot: to be logged in full. */
  readonly isFault: boolean;
}

/** The failed call, to translate field names and quote arguments. */
export interface FailedCall {
  readonly tool: Pick<Tool, 'input' | 'argumentOf'>;
  readonly args: unknown;
}

/**
 * Errors are results, never protocol errors: most hosts do not show protocol errors to the model. The text is complete.
 * Programs find the same in `_meta`, which models do not see. It is not in `structuredContent`, because clients of the 2025
 * protocols validate that against the tool's output schema even if the call failed.
 */
export function toolErrorResult(error: unknown, call: FailedCall): ToolErrorResult {
  const described = describeError(error, call);
  const { code, message, what_to_do, violations = [], send, ...details } = described;
  const lines = [
    `${code}: ${message}`,
    ...violations.map(({ field, ...finding }) => `${field || 'arguments'}: ${renderFinding(finding)}`),
    ...(send ? [`Send: ${JSON.stringify(send)}`] : []),
    what_to_do,
    ...(Object.keys(details).length > 0 ? [writeReadable(details)] : []),
  ];
  return {
    answer: {
      content: [{ type: 'text', text: lines.join('\n') }],
      isError: true,
      _meta: { [errorKey]: described },
    },
    isFault: described === unexpected,
  };
}

interface DescribedError {
  readonly code: string;
  readonly message: string;
  readonly what_to_do: string;
  readonly violations?: readonly (Finding & { readonly field: string })[];
  /** The corrected fields of the request, if every fix is certain. */
  readonly send?: Send;
  readonly [detail: string]: unknown;
}

function describeError(error: unknown, call: FailedCall): DescribedError {
  if (error instanceof InvalidArguments) {
    const { message, violations } = error;
    return { code: 'invalid_argument', message, ...corrections(violations, call.args) };
  }
  if (error instanceof NeedsConfirmation) {
    const { message, estimates } = error;
    return { code: 'failed_precondition', message, what_to_do: askYourUser, estimate: estimates };
  }
  if (error instanceof Declined) return declined;
  if (!(error instanceof EarshotError)) return unexpected;
  const { code, message, retryable, retryAfterMs, requestId } = error;
  // The violations become edits. The other details, such as limits and cursors, are passed on unchanged.
  const { violations, request_id: _, what_to_do = whatToDo(error), ...details } = error.details;
  if (violations) {
    const named = violations.map((violation) => inArguments(violation, call));
    const [first] = named;
    // The API's message repeats the first violation with the API's field names. It may contain text of a platform.
    const summary = first?.field ? `${first.field}: ${first.message}` : (first?.message ?? message);
    return { code, message: visible(summary), ...corrections(named, call.args), ...details };
  }
  return {
    code,
    // It may contain text of a platform.
    message: visible(message),
    what_to_do,
    ...details,
    ...(requestId !== undefined && { request_id: requestId }),
    ...(retryable && { retryable, retry_after_seconds: Math.ceil((retryAfterMs ?? 1_000) / 1_000) }),
  };
}

const declined: DescribedError = {
  code: 'failed_precondition',
  message: 'Your user did not agree to the cost of the rule. Nothing was done.',
  what_to_do: 'Ask your user whether you should make the rule narrower.',
};

const askYourUser =
  'Nothing was done. Ask your user whether they accept the cost. If they agree, call again with accept_estimate: true. Otherwise narrow the rule.';

/** The question to the user that replaces the error; null if the agent must handle the error. */
export function questionOf(error: unknown): string | null {
  if (error instanceof NeedsConfirmation) return error.message;
  return error instanceof EarshotError && isAboveBudget(error) ? error.message : null;
}

/** The API itself refuses a rule whose estimate is above its budget. */
function isAboveBudget({ code, details }: EarshotError): boolean {
  return code === 'failed_precondition' && 'estimate' in details;
}

/** A bug. It has no details, as over HTTP. */
const unexpected: DescribedError = {
  code: 'internal',
  message: 'Earshot has an internal error.',
  what_to_do: errorCodes.internal.whatToDo,
};

/**
 * Translates the API's field names to the tool's arguments. If an argument is one text, such as a budget, its fields become
 * that argument.
 */
function inArguments(
  violation: Violation,
  { tool: { input, argumentOf = {} }, args }: FailedCall,
): Violation {
  const [first = '', ...rest] = violation.field.split('.');
  const name = argumentOf[first] ?? first;
  const isOneText = typeof Object(args)[name] === 'string';
  const field = [name, ...(isOneText ? [] : rest)].join('.');
  let { message } = violation;
  for (const [other, argument] of Object.entries(argumentOf))
    message = message.replaceAll(`"${other}"`, `"${argument}"`);
  return { ...violation, field: Object.hasOwn(input.shape, name) ? field : '', message };
}

function corrections(violations: readonly Violation[], args: unknown) {
  const send = correction(violations, args);
  const isSuspicious = violations.every(({ severity }) => severity === 'suspicious');
  return {
    what_to_do: send
      ? 'Call again with the fields of "send" in place of yours, the rest unchanged.'
      : `Correct the fields named above and call again. If a fix is only a guess, choose what fits the intent.${isSuspicious ? ' If your user wants exactly this, set accept_suspicious.' : ''}`,
    violations: firstFindings(
      violations.map(({ field, ...place }) => ({
        field,
        ...toFinding(valueAt(args, field), {
          ...place,
          message: isOfPlatform(place) ? visible(place.message) : place.message,
        }),
      })),
    ),
    ...(send && { send }),
  };
}

interface Send {
  readonly overrides: Readonly<Partial<Record<Platform, string>>>;
}

/** Null unless certain fixes correct every violation, because a partial correction would be refused again. */
function correction(violations: readonly Violation[], args: unknown): Send | null {
  const overrides: Partial<Record<Platform, string>> = {};
  for (const platform of platforms) {
    const field = `overrides.${platform}`;
    const value = valueAt(args, field);
    if (value === undefined) continue;
    const isRefused = violations.some((violation) => violation.field === field);
    const fixed = isRefused ? corrected(languages[platform], value) : value;
    if (fixed === null) return null;
    overrides[platform] = fixed;
  }
  const fields = new Set(Object.keys(overrides).map((platform) => `overrides.${platform}`));
  const isCovered = violations.every(({ field, severity }) => fields.has(field) && severity !== undefined);
  return violations.length > 0 && isCovered ? { overrides } : null;
}

/** Whether the message is a platform's own text. */
function isOfPlatform({ code }: Pick<Violation, 'code'>): boolean {
  return code === 'upstream_rejected';
}

/** The text argument at this path. Only queries, at `overrides.<platform>`, have spans and fixes. */
function valueAt(args: unknown, field: string): string | undefined {
  let value = args;
  for (const step of field.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = Object.entries(value).find(([name]) => name === step)?.[1];
  }
  return typeof value === 'string' ? value : undefined;
}

function whatToDo(error: EarshotError): string {
  const { code, details } = error;
  if (isAboveBudget(error)) return askYourUser;
  if (details.required_scope !== undefined)
    return `This key may not do that. Ask your user for a key with the scope "${details.required_scope}".`;
  if (details.reason === 'equivalent_rule')
    return `Use the rule ${details.rule_id} (get_rule; resume_rule if it is paused). If your user wants both, set allow_equivalent.`;
  if (code === 'out_of_range' && details.reason === 'restored')
    return `Earshot was restored to an earlier state. Continue with the cursor ${details.oldest_cursor}; some matches may be listed again. With a reader, continue without an ack.`;
  if (details.oldest_cursor !== undefined)
    return `Older matches were removed and can no longer be read. Continue with the cursor (or ack) ${details.oldest_cursor}.`;
  if (code === 'resource_exhausted' && !error.retryable)
    return 'Waiting does not help. Delete what is not needed with delete_rule or delete_reader (list_readers), or ask your user.';
  return code === 'unknown' ? 'Ask your user whether the URL of Earshot is correct.' : advice[code];
}

const advice: Readonly<Record<keyof typeof errorCodes, string>> = {
  invalid_argument: 'Correct the arguments and call again.',
  failed_precondition:
    'Check the state with get_rule, then decide. If the rule of a reader was deleted, call delete_reader or use another name.',
  out_of_range: 'Continue without the cursor.',
  unauthenticated: 'Ask your user for a valid Earshot API key.',
  permission_denied: 'Ask your user: the key or the plan does not allow this.',
  not_found: 'Use an id from list_rules, or a name from list_readers.',
  already_exists: 'Choose another name, or use the existing one with the filter it already has.',
  aborted: 'Call again in a moment.',
  resource_exhausted: 'Wait for the given time, then call again.',
  internal: errorCodes.internal.whatToDo,
  unimplemented: 'Ask your user to update the server: it is older than its tools.',
  unavailable: 'Call again in a moment.',
  deadline_exceeded: 'Nothing was changed. Call again.',
};
