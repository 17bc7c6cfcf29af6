import type { ErrorCode, ErrorDetails } from '@earshot/contract';

/**
 * A failure that the caller is told. `message` is public and says what to do; `cause` is for the log only.
 */
export class Failure extends Error {
  readonly code: ErrorCode;
  readonly details: Omit<ErrorDetails, 'request_id'>;
  readonly retryAfterSeconds: number | null;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      details?: Omit<ErrorDetails, 'request_id'>;
      retryAfterSeconds?: number;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'Failure';
    this.code = code;
    this.details = options.details ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}

/** A field of the request that is well-formed and still cannot be taken. */
export function badField(field: string, message: string, code = 'invalid_value'): Failure {
  return new Failure('invalid_argument', `${field}: ${message}`, {
    details: { violations: [{ field, code, message }] },
  });
}
