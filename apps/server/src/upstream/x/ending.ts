import { z } from 'zod';
import type { StreamEnding } from '../upstream-stream.ts';

/** X's problem object. Its `detail` is free text and never decides anything. */
export const problemSchema = z.looseObject({
  type: z.string().nullish(),
  title: z.string().nullish(),
  /** For example `client-not-enrolled` of a 403. */
  reason: z.string().nullish().catch(null),
  detail: z.string().nullish().catch(null),
  connection_issue: z.string().nullish(),
  disconnect_type: z.string().nullish(),
});

export type XProblem = Partial<z.output<typeof problemSchema>>;

const bodySchema = z.union([z.looseObject({ errors: z.array(problemSchema).min(1) }), problemSchema]);

/** The problem of an error body, at the top level or inside `errors`. */
export function problemOf(body: unknown): XProblem {
  const parsed = bodySchema.safeParse(body);
  if (!parsed.success) return {};
  const { errors, ...top } = parsed.data;
  return Array.isArray(errors) && !('type' in top && top.type) ? (errors[0] ?? {}) : top;
}

const wordsLengthMax = 300;

/** The part of X's refusal that helps people. */
export function wordsOf({ title, reason, connection_issue, detail }: XProblem): string {
  const words = [...new Set([connection_issue ?? title, reason, detail])].filter(Boolean).join(', ');
  return words.slice(0, wordsLengthMax);
}

/** The same after a colon, to append to a message; empty if there is none. */
export function wordsAfterColon(problem: XProblem): string {
  const words = wordsOf(problem);
  return words === '' ? '' : `: ${words}`;
}

export function problemIn(body: unknown, type: string): boolean {
  return problemType(problemOf(body).type) === type;
}

/** X refused to open a stream with this status. */
export interface XRefusal {
  readonly status: number;
  readonly retryAfterMs: number | null;
}

/** The last part of a problem's `type`: the host differs between X's documents and its wire. */
export function problemType(type: string | null | undefined): string | null {
  return type?.split('/').at(-1) ?? null;
}

/** `disconnect_type` of a message inside the stream; the server closes after it, or leaves a dead socket open. */
const disconnects: Readonly<Record<string, StreamEnding>> = {
  OperationalDisconnect: { kind: 'dropped' },
  UpstreamOperationalDisconnect: { kind: 'dropped' },
  UpstreamUncleanDisconnect: { kind: 'dropped' },
  InternalError: { kind: 'dropped' },
  ForceDisconnect: { kind: 'displaced' },
  SlowReader: { kind: 'slow_reader' },
  InvalidRules: { kind: 'rules_invalid' },
  ClientApplicationStateDegraded: { kind: 'degraded' },
};

const issues: Readonly<Record<string, StreamEnding>> = {
  TooManyConnections: { kind: 'connection_in_use' },
  RuleConfigurationIssue: { kind: 'no_rules' },
  RulesInvalidIssue: { kind: 'rules_invalid' },
  ProvisioningSubscription: { kind: 'provisioning' },
};

/** Caps and credit problems occur before and inside a stream, with different statuses. */
const titles: Readonly<Record<string, StreamEnding>> = {
  CreditsDepleted: { kind: 'no_credit' },
  SpendCapReached: { kind: 'spend_cap' },
  UsageCapExceeded: { kind: 'usage_cap' },
};

const capTypes: Readonly<Record<string, StreamEnding>> = { 'usage-capped': { kind: 'usage_cap' } };

/** Used only without a `disconnect_type`, because an unknown one may mean anything. */
const disconnectTypes: Readonly<Record<string, StreamEnding>> = {
  'client-disconnected': { kind: 'dropped' },
  'operational-disconnect': { kind: 'dropped' },
};

/**
 * The meaning of a problem. Without a refusal, it is a message inside the stream; an unknown one is retried with
 * back-off.
 */
export function endingOfX(problem: XProblem, refusal: XRefusal | null): StreamEnding {
  return (
    at(disconnects, problem.disconnect_type) ??
    at(issues, problem.connection_issue) ??
    at(titles, problem.title) ??
    at(capTypes, problemType(problem.type)) ??
    at(problem.disconnect_type ? {} : disconnectTypes, problemType(problem.type)) ??
    (refusal ? endingOfStatus(refusal) : { kind: 'failing', status: 200 })
  );
}

function endingOfStatus({ status, retryAfterMs }: XRefusal): StreamEnding {
  switch (status) {
    case 401:
    case 403:
      return { kind: 'credentials' };
    case 402:
      return { kind: 'no_credit' };
    case 409:
      return { kind: 'no_rules' };
    case 429:
      return { kind: 'rate_limited', retryAfterMs };
    default:
      return status >= 500 ? { kind: 'failing', status } : { kind: 'bad_request' };
  }
}

function at(table: Readonly<Record<string, StreamEnding>>, key: string | null | undefined) {
  return typeof key === 'string' && Object.hasOwn(table, key) ? table[key] : undefined;
}
