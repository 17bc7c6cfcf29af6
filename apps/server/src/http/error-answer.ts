import { type ErrorEnvelope, errorCodes } from '@earshot/contract';
import { Failure } from '../runtime/failure.ts';

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorEnvelope;
  /** An internal error, which is logged in full. */
  readonly isOurFault: boolean;
}

/** `unavailable` is always temporary. Other failures have a `retry-after` only if they set one: a full plan is not temporary. */
const unavailableForSeconds = 5;

export const bodyBytesMax = 256 * 1024;

/** Messages for errors of the framework before an operation is reached, by the framework's error code. */
const frameworkMessages: Readonly<Record<string, string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: `The body is too large. Send at most ${bodyBytesMax / 1024} KiB.`,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'Send the body as JSON with "Content-Type: application/json".',
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not valid JSON.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as "Content-Length" says.',
  FST_ERR_BAD_URL: 'The path is not valid.',
};

export function errorAnswer(error: unknown, requestId: string): ErrorAnswer {
  const failure = toFailure(error);
  const { status } = errorCodes[failure.code];
  const headers: Record<string, string> = {};
  const retryAfter =
    failure.retryAfterSeconds ?? (failure.code === 'unavailable' ? unavailableForSeconds : null);
  if (retryAfter !== null) headers['retry-after'] = String(retryAfter);
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  return {
    status,
    headers,
    body: {
      code: failure.code,
      message: failure.message,
      details: { request_id: requestId, ...failure.details },
    },
    isOurFault: failure.code === 'internal',
  };
}

function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const message =
    frameworkMessages[code] ?? (isBadJson(error) ? frameworkMessages['FST_ERR_CTP_INVALID_JSON_BODY'] : null);
  if (message) return new Failure('invalid_argument', message, { cause: error, details: { violations: [] } });
  return new Failure('internal', 'Something went wrong on our side.', { cause: error });
}

/** The SyntaxError of the JSON parser, which the framework passes on with a 400. */
function isBadJson(error: unknown): boolean {
  return error instanceof SyntaxError && 'statusCode' in error && error.statusCode === 400;
}
