import type { ErrorCode, ErrorDetails, ErrorReason } from '@earshot/contract';

type Details = Omit<ErrorDetails, 'request_id'>;

interface FailureOptions {
  readonly details?: Details;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

interface ReasonOptions<Reason> extends FailureOptions {
  readonly details: Details & { readonly reason: Reason };
}

/** The reason of a limit. It has a `retryAfterSeconds` exactly if waiting helps: clients wait and retry because of it. */
type LimitOptions =
  | {
      readonly details: Details & { readonly reason: 'rate_limit' | 'concurrency' };
      readonly retryAfterSeconds: number;
    }
  | {
      readonly details: Details & { readonly reason: 'plan_limit' | 'share' | 'capacity' };
      readonly retryAfterSeconds?: never;
    };

type ErrorWithReason =
  | 'failed_precondition'
  | 'aborted'
  | 'unavailable'
  | 'out_of_range'
  | 'resource_exhausted';

/** A failure that is sent to the caller. `message` is public and says what to do; `cause` is for the log only. */
export class Failure extends Error {
  readonly code: ErrorCode;
  readonly details: Details;
  readonly retryAfterSeconds: number | null;

  constructor(code: 'resource_exhausted', message: string, options: LimitOptions);
  constructor(
    code: 'failed_precondition',
    message: string,
    options: ReasonOptions<ErrorReason<'failed_precondition'>>,
  );
  constructor(code: 'aborted', message: string, options: ReasonOptions<ErrorReason<'aborted'>>);
  constructor(code: 'unavailable', message: string, options: ReasonOptions<ErrorReason<'unavailable'>>);
  constructor(code: 'out_of_range', message: string, options: ReasonOptions<ErrorReason<'out_of_range'>>);
  constructor(code: Exclude<ErrorCode, ErrorWithReason>, message: string, options?: FailureOptions);
  constructor(code: ErrorCode, message: string, options: FailureOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'Failure';
    this.code = code;
    this.details = options.details ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}

/**
 * PostgreSQL cannot be reached. The database reports the outage once, so a worker that ends with this has not failed.
 */
export class DatabaseUnreachable extends Failure {
  constructor(cause: unknown) {
    super('unavailable', 'Earshot cannot reach its database. Try again in a few seconds.', {
      details: { reason: 'database' },
      retryAfterSeconds: 5,
      cause,
    });
  }
}

/** A field of the request that is well-formed but cannot be accepted. */
export function badField(field: string, message: string, code = 'invalid_value'): Failure {
  return new Failure('invalid_argument', `${field}: ${message}`, {
    details: { violations: [{ field, code, message }] },
  });
}
