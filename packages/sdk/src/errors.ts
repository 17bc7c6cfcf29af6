import type { ErrorCode, ErrorDetails, Removal, Retryable } from './contract-types.ts';

const retryableCodes = {
  invalid_argument: false,
  failed_precondition: false,
  out_of_range: false,
  unauthenticated: false,
  permission_denied: false,
  not_found: false,
  already_exists: false,
  aborted: true,
  resource_exhausted: true,
  internal: false,
  unimplemented: false,
  unavailable: true,
  deadline_exceeded: true,
} as const satisfies Retryable;

/** The most likely meaning of an answer that is not from Earshot, such as a proxy's error page. */
const codesByStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'unimplemented',
  429: 'unavailable',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

export interface EarshotErrorFields {
  /** A code of the contract; `unknown` if the answer is not from Earshot and its status is ambiguous. */
  readonly code: ErrorCode | 'unknown';
  readonly details?: Partial<ErrorDetails>;
  /** Include it if you report a problem. */
  readonly requestId?: string | undefined;
  /** HTTP status; 0 if there was no answer. */
  readonly status?: number;
  /** How long the server requests to wait. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** Every failure of a call, except its cancellation, which throws the reason of the signal. */
export class EarshotError extends Error {
  override readonly name = 'EarshotError';
  readonly code: ErrorCode | 'unknown';
  readonly details: Partial<ErrorDetails>;
  readonly requestId: string | undefined;
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** The same request may succeed later. The call has already been retried until its timeout. */
  readonly retryable: boolean;

  constructor(message: string, fields: EarshotErrorFields) {
    super(message, { cause: fields.cause });
    this.code = fields.code;
    this.details = fields.details ?? {};
    this.requestId = fields.requestId;
    this.status = fields.status ?? 0;
    this.retryAfterMs = fields.retryAfterMs;
    this.retryable = canPass(fields);
  }
}

/** A limit is temporary only if the server sends Retry-After. A plan limit is not. */
function canPass({ code, retryAfterMs }: EarshotErrorFields): boolean {
  if (code === 'resource_exhausted' && retryAfterMs === undefined) return false;
  return code !== 'unknown' && retryableCodes[code];
}

/** For loops that continue automatically. */
export interface RestoreListener {
  /**
   * Earshot was restored to an earlier state, and the loop continues from there. It misses no stored match, but some matches
   * may be listed again with new ids.
   */
  readonly onRestored?: ((error: EarshotError) => void) | undefined;
}

/** For programs that store matches. */
export interface RemovalListener {
  /**
   * A match was removed, because its item was deleted on its platform or removed by the operator. Delete your copy. Called in
   * the order of the log, also for matches that this loop never yielded. The loop waits for it.
   */
  readonly onRemoved?: ((removal: Removal) => void | Promise<void>) | undefined;
}

export function isRestored(error: unknown): error is EarshotError {
  return (
    error instanceof EarshotError && error.code === 'out_of_range' && error.details.reason === 'restored'
  );
}

/** The error of an unsuccessful answer. */
export function errorFromResponse(response: Response, body: string): EarshotError {
  const { status, headers } = response;
  const envelope = readEnvelope(body);
  const common = {
    status,
    retryAfterMs: parseRetryAfter(headers.get('retry-after'), Date.now()),
    requestId: headers.get('x-request-id') ?? undefined,
  };
  if (envelope) {
    const { code, message, details } = envelope;
    return new EarshotError(message, {
      ...common,
      code,
      details,
      requestId: details.request_id ?? common.requestId,
    });
  }
  const message = `The answer with status ${status} is not from Earshot. Check the address of the server and any proxy.`;
  return new EarshotError(message, { ...common, code: codesByStatus[status] ?? 'unknown' });
}

export function unreachable(cause: unknown): EarshotError {
  return new EarshotError('Earshot could not be reached.', { code: 'unavailable', cause });
}

function readEnvelope(
  body: string,
): { code: ErrorCode; message: string; details: Partial<ErrorDetails> } | undefined {
  const value = parseJson(body);
  if (!isRecord(value)) return undefined;
  const { code, message, details } = value;
  if (typeof code !== 'string' || !isErrorCode(code) || typeof message !== 'string') return undefined;
  return { code, message, details: isRecord(details) ? details : {} };
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(retryableCodes, code);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined if the text is not JSON, because no JSON text parses to undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The header has seconds or an HTTP date. */
function parseRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
