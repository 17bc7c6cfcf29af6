import { z } from 'zod';
import { relevanceFilter, violationSchema } from './answer-fields.ts';
import { budgetTerms } from './budgets.ts';
import { estimateSchema } from './estimates.ts';
import { perPlatform, platformSchema } from './platforms.ts';
import { scopes } from './scopes.ts';

export interface ErrorDescription {
  readonly status: number;
  readonly title: string;
  readonly when: string;
  /** Whether the same request can succeed later: nothing was done. `resource_exhausted` only if it has a `retry-after`. */
  readonly retryable: boolean;
  readonly whatToDo: string;
}

/** The public errors. Codes and statuses follow Connect; every code has a page in docs/errors. */
export const errorCodes = {
  invalid_argument: {
    status: 400,
    title: 'Invalid request',
    when: 'Malformed body, unknown field, or a bad value.',
    retryable: false,
    whatToDo: 'Correct the fields named in `details.violations` and send the request again.',
  },
  failed_precondition: {
    status: 400,
    title: 'Not possible in the current state',
    when: 'The request is valid, but the state of the resource or the installation does not allow it.',
    retryable: false,
    whatToDo: 'Do what the message says, then send the request again. `details.reason` names the cause.',
  },
  out_of_range: {
    status: 400,
    title: 'The cursor has expired',
    when: 'Matches after the cursor were removed by retention, or the match log was restored to an earlier state.',
    retryable: false,
    whatToDo:
      'Continue from `details.oldest_cursor`. If `details.reason` is `retention`, you have missed the matches in between; if it is `restored`, some matches are listed again.',
  },
  unauthenticated: {
    status: 401,
    title: 'No valid API key',
    when: 'The key is missing, malformed, unknown, expired or revoked.',
    retryable: false,
    whatToDo: 'Send a valid key as `Authorization: Bearer <API_KEY>`.',
  },
  permission_denied: {
    status: 403,
    title: 'Not allowed for this key or plan',
    when: 'The key lacks the scope, the plan of the account lacks the platform, or the rule does not count towards the budget of the key.',
    retryable: false,
    whatToDo: 'Use a key with `details.required_scope`, or change the plan named in `details.plan`.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    when: 'Unknown id, an id of another account, or an unknown path.',
    retryable: false,
    whatToDo: 'Check the id and the path. List the resources to see the ids that exist.',
  },
  already_exists: {
    status: 409,
    title: 'The name is in use',
    when: 'The account already uses a name that must be unique.',
    retryable: false,
    whatToDo: 'Choose another name, or use the existing resource.',
  },
  aborted: {
    status: 409,
    title: 'Conflict with a concurrent request',
    when: 'The request conflicts with another one that runs at the same time. Nothing was changed.',
    retryable: true,
    whatToDo: 'Wait a moment and send the same request again.',
  },
  resource_exhausted: {
    status: 429,
    title: 'Limit reached',
    when: 'A rate limit, a plan limit, or the capacity of the installation is reached.',
    retryable: true,
    whatToDo:
      'With a `retry-after` header, wait that long. Without one, waiting does not help: delete what `details.limit` counts, or ask the operator for more.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    when: 'A bug in Earshot. The message has no details.',
    retryable: false,
    whatToDo:
      'Check whether the request took effect before you repeat it. If the error persists, report `details.request_id` to the operator.',
  },
  unimplemented: {
    status: 405,
    title: 'Method not allowed',
    when: 'The path exists, but does not support this HTTP method.',
    retryable: false,
    whatToDo: 'Use a method that the `allow` header lists.',
  },
  unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    when: 'The node is overloaded or shutting down, or a system that it needs does not answer.',
    retryable: true,
    whatToDo: 'Wait as long as the `retry-after` header says, then try again.',
  },
  deadline_exceeded: {
    status: 504,
    title: 'The platform did not confirm in time',
    when: 'A platform did not confirm the rule in time. Nothing was created or changed.',
    retryable: true,
    whatToDo: 'Send the same request again.',
  },
} as const satisfies Record<string, ErrorDescription>;

export type ErrorCode = keyof typeof errorCodes;

/** The causes of codes that cover several, for `details.reason`. */
export const errorReasons = {
  failed_precondition: {
    version_changed: 'The rule has another version than `if_version`.',
    not_paused: 'Only a paused rule can be resumed.',
    expired: 'The rule has expired.',
    equivalent_rule: 'The account has a rule with the same queries, and the request does not allow another.',
    budget_reached: 'A budget of the rule is reached: it is spent, or its rules were paused early.',
    budget_exceeded: 'The estimated cost is above a budget; `details.estimate` has the numbers.',
    no_credit: 'The operator has no credit left on the platform.',
    spend_cap: "The operator's spending limit on the platform is reached.",
    usage_cap: "The operator's usage limit on the platform is reached.",
    credentials: 'The operator has no valid credential for the platform.',
    not_configured: 'The operator has not set up what the request needs.',
    in_use: 'Another resource uses this one.',
    not_signed: 'The webhook sends to a chat, whose messages are not signed.',
    rule_deleted: 'The rule that the reader reads was deleted.',
    too_many_matches: 'There are more matches than Earshot counts in one request.',
    wrong_account: 'The console link belongs to another account than the session.',
    insecure_connection: 'The console needs HTTPS, except on the same machine.',
    already_decided: 'The authorization request was already decided.',
  },
  out_of_range: {
    retention: 'Retention has removed matches after the cursor.',
    restored: 'The match log was restored to an earlier state.',
  },
  aborted: {
    conflict: 'Another request changes the same resource.',
    in_progress: 'A request with the same `Idempotency-Key` is still running.',
    replaced: 'A retry with the same `Idempotency-Key` replaced this request.',
    timeout: 'The change took too long and was undone.',
  },
  resource_exhausted: {
    rate_limit: 'Too many requests in a period; wait.',
    concurrency: 'Too many requests or streams at the same time; wait.',
    plan_limit: 'The plan of the account allows no more.',
    share: 'The account uses its share of the upstream rules.',
    capacity: 'The installation has no capacity left on the platform.',
  },
  unavailable: {
    shutting_down: 'The node is shutting down.',
    not_ready: 'The node is starting, or misses a system that it needs.',
    database: 'The node cannot reach its database.',
    overloaded: 'The node or its database has too much work.',
    platform: 'The platform does not answer.',
    issuer: 'The issuer of the token does not answer.',
    restored: 'The match log was restored while you were reading it.',
  },
} as const satisfies { readonly [Code in ErrorCode]?: Readonly<Record<string, string>> };

export type ErrorReason<Code extends keyof typeof errorReasons = keyof typeof errorReasons> = {
  [One in Code]: keyof (typeof errorReasons)[One] & string;
}[Code];

/** `Object.keys` forgets the literal keys. */
const reasonList = Object.values(errorReasons).flatMap((reasons) => Object.keys(reasons) as ErrorReason[]);

/** What every operation may answer. */
export const commonErrors = [
  'invalid_argument',
  'unauthenticated',
  'resource_exhausted',
  'internal',
  'unavailable',
] as const satisfies ErrorCode[];

/** One table is the source: the cast only keeps the literal keys that Object.keys forgets. */
const errorCodeList = Object.keys(errorCodes) as ErrorCode[];

const errorDetailsSchema = z.strictObject({
  request_id: z.string().meta({ description: 'The `x-request-id` of the answer.' }),
  violations: z
    .array(violationSchema)
    .optional()
    .meta({ description: 'With `invalid_argument`: every mistake in the request.' }),
  reason: z
    .enum([...new Set(reasonList)])
    .optional()
    .meta({
      description:
        'The cause, where a code has several: always with `failed_precondition`, `out_of_range`, `aborted`, `resource_exhausted` and `unavailable`. The page of the code lists its reasons.',
    }),
  what_to_do: z.string().optional().meta({ description: 'What the operator of the service must do.' }),
  oldest_cursor: z.string().optional().meta({ description: 'Where to continue after `out_of_range`.' }),
  required_scope: z.enum(scopes).optional().meta({ description: 'The scope that the key lacks.' }),
  rule_id: z.string().optional().meta({ description: 'The rule of the account that has the same queries.' }),
  plan: z.string().optional().meta({ description: 'The plan of the account.' }),
  platform: platformSchema.optional().meta({ description: 'The platform that the error is about.' }),
  limit: z.number().optional().meta({ description: 'How much is allowed.' }),
  used: z.number().optional().meta({ description: 'How much of it is in use.' }),
  contact: z.string().optional().meta({ description: 'The contact for a higher limit.' }),
  reader: z
    .strictObject({
      of: z.enum(['matches', 'notices']).meta({ description: 'What it reads.' }),
      rule_id: z.string().nullable().meta({ description: 'Only matches of this rule; null: of every rule.' }),
      platform: platformSchema
        .nullable()
        .meta({ description: 'Only matches on this platform; null: on every platform.' }),
      relevance: relevanceFilter.meta({ description: 'Which matches it leaves out, as in ListMatches.' }),
      group: z.enum(['story']).nullable().meta({ description: 'Null: it reads every match of a story.' }),
    })
    .optional()
    .meta({ description: 'The filter of the named reader.' }),
  budget: budgetTerms.optional().meta({ description: 'The budget that does not allow the change.' }),
  estimate: perPlatform(estimateSchema)
    .optional()
    .meta({ description: 'What the rule would match and cost on each platform.' }),
});

export const errorSchema = z
  .strictObject({
    code: z.enum(errorCodeList).meta({ description: 'For programs.' }),
    message: z.string().meta({ description: 'For people: what is wrong and what to do.' }),
    details: errorDetailsSchema.meta({ description: 'For programs; the fields depend on the code.' }),
  })
  .meta({ description: 'Every answer that is not a success.' });

export type ErrorEnvelope = z.output<typeof errorSchema>;
export type ErrorDetails = z.output<typeof errorDetailsSchema>;
