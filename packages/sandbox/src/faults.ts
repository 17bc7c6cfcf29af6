import type { JsonObject } from './http/json.ts';
import type { Random } from './random.ts';

/**
 * The faults that the control API can arm. `now` acts once, when it is armed, on everything in its scope; `waits`
 * fires on the next requests or records in its scope, `count` times.
 */
export const faultKinds = {
  rule_refused: 'waits',
  rules_status: 'waits',
  rules_delay: 'waits',
  rules_lost_answer: 'waits',
  stream_status: 'waits',
  stream_empty: 'waits',
  stuck_connection: 'waits',
  duplicate_delivery: 'waits',
  out_of_order: 'waits',
  split_chunks: 'waits',
  split_line_end: 'waits',
  merge_chunks: 'waits',
  unknown_message: 'waits',
  not_json: 'waits',
  big_frame: 'waits',
  stream_cut: 'now',
  stream_reset: 'now',
  stream_eof: 'now',
  stream_stall: 'now',
  stream_mute: 'now',
  stream_control: 'now',
  rules_vanish: 'now',
  cursor_too_old: 'now',
} as const;

export type FaultKind = keyof typeof faultKinds;
export const platforms = ['x', 'firehose', 'bluesky'] as const;
export type Platform = (typeof platforms)[number];

export interface Fault {
  readonly id: string;
  readonly kind: FaultKind;
  /** Undefined means all platforms. */
  readonly platform: Platform | undefined;
  /** Undefined means every app and tap. */
  readonly token: string | undefined;
  /** The remaining number of times; null means no limit. */
  remaining: number | null;
  fired: number;
  readonly params: JsonObject;
}

export interface FaultScope {
  readonly platform: Platform;
  readonly token: string;
}

export type Faults = ReturnType<typeof createFaults>;

export function isFaultKind(value: unknown): value is FaultKind {
  return typeof value === 'string' && Object.hasOwn(faultKinds, value);
}

export function createFaults() {
  const faults: Fault[] = [];
  let lastId = 0;
  return {
    arm(wanted: Pick<Fault, 'kind' | 'platform' | 'token' | 'remaining' | 'params'>): Fault {
      lastId += 1;
      const fault: Fault = { id: String(lastId), ...wanted, fired: 0 };
      faults.push(fault);
      return fault;
    },
    list: (): readonly Fault[] => faults,
    clear: () => {
      faults.length = 0;
    },
    /** The first armed fault that fits, counted as fired; undefined when there is none. */
    take(kind: FaultKind, scope: FaultScope, fits: (params: JsonObject) => boolean = () => true) {
      const fault = faults.find(
        (candidate) =>
          candidate.kind === kind &&
          candidate.remaining !== 0 &&
          isInScope(candidate, scope) &&
          fits(candidate.params),
      );
      if (fault === undefined) return undefined;
      fault.fired += 1;
      if (fault.remaining !== null) fault.remaining -= 1;
      return fault;
    },
  };
}

export function isInScope(fault: Pick<Fault, 'platform' | 'token'>, scope: FaultScope): boolean {
  const platformFits = fault.platform === undefined || fault.platform === scope.platform;
  return platformFits && (fault.token === undefined || fault.token === scope.token);
}

export function numberParam(params: JsonObject, name: string, otherwise: number): number {
  const value = params[name];
  return typeof value === 'number' ? value : otherwise;
}

export function textParam(params: JsonObject, name: string, otherwise: string): string {
  const value = params[name];
  return typeof value === 'string' ? value : otherwise;
}

/** Separates the line end from the record before it. */
export function splitLineEnd(bytes: Buffer): Buffer[] {
  const isLineEnd = (byte: number | undefined) => byte === 0x0a || byte === 0x0d;
  let end = bytes.length;
  while (end > 0 && isLineEnd(bytes[end - 1])) end -= 1;
  return [bytes.subarray(0, end), bytes.subarray(end)];
}

/** Cuts at random bytes, also inside a UTF-8 sequence or a line end. */
export function splitAtRandom(bytes: Buffer, random: Random): Buffer[] {
  const pieces: Buffer[] = [];
  let start = 0;
  while (start < bytes.length) {
    const end = Math.min(bytes.length, start + random.integer(1, Math.max(1, Math.ceil(bytes.length / 4))));
    pieces.push(bytes.subarray(start, end));
    start = end;
  }
  return pieces;
}
