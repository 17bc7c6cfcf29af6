import { z } from 'zod';
import { violationSchema } from './answer-fields.ts';
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
    title: 'The request is not valid',
    when: 'Malformed body, unknown field, or a bad value.',
    retryable: false,
    whatToDo: 'Correct the fields named in `details.violations` and send the request again.',
  },
  failed_precondition: {
    status: 400,
    title: 'The state does not allow this request',
    when: 'The request is valid, but the current state of the resource does not allow it.',
    retryable: false,
    whatToDo: 'Change the resource to the state that the message names, then try again.',
  },
  out_of_range: {
    status: 400,
    title: 'The cursor points to what is not kept',
    when: 'Retention has removed matches after the cursor, or the match log was restored to an earlier state.',
    retryable: false,
    whatToDo:
      'Continue from `details.oldest_cursor`. Where `details.reason` is `retention`, treat what lies between as missed; where it is `restored`, expect some matches again.',
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
    title: 'The key or the plan does not allow this',
    when: 'The key lacks the scope, the plan of the account lacks the platform, or the rule does not spend the budget of the key.',
    retryable: false,
    whatToDo: 'Use a key with `details.required_scope`, or change the plan named in `details.plan`.',
  },
  not_found: {
    status: 404,
    title: 'There is no such thing',
    when: 'Unknown id, an id of another account, or an unknown path.',
    retryable: false,
    whatToDo: 'Check the id and the path; list the rules to see the ids that exist.',
  },
  already_exists: {
    status: 409,
    title: 'The name is taken',
    when: 'A name that must be unique in the account is in use.',
    retryable: false,
    whatToDo: 'Choose another name, or use the existing object.',
  },
  aborted: {
    status: 409,
    title: 'Another request was in the way',
    when: 'A conflict with something that runs at the same time.',
    retryable: true,
    whatToDo: 'Wait a moment and send the same request again.',
  },
  resource_exhausted: {
    status: 429,
    title: 'A limit is reached',
    when: 'A rate limit, a limit of the plan, or the capacity of the installation.',
    retryable: true,
    whatToDo:
      'With a `retry-after` header, wait that long. Without one, free what `details.limit` counts or ask for more.',
  },
  internal: {
    status: 500,
    title: 'A fault of the service',
    when: 'A bug. The message says no more than that.',
    retryable: false,
    whatToDo:
      'Check whether the request took effect before you repeat it; report `details.request_id` if it stays.',
  },
  unimplemented: {
    status: 501,
    title: 'The path does not know this method',
    when: 'The path exists, but not with this HTTP method.',
    retryable: false,
    whatToDo: 'Use the method that the reference names for the path.',
  },
  unavailable: {
    status: 503,
    title: 'Not able to serve right now',
    when: 'Overload, a shutdown in progress, or an upstream platform that does not answer.',
    retryable: true,
    whatToDo: 'Wait as long as the `retry-after` header says, then try again.',
  },
  deadline_exceeded: {
    status: 504,
    title: 'The upstream did not confirm in time',
    when: 'An upstream platform did not confirm the rule in time. Nothing was created or changed.',
    retryable: true,
    whatToDo: 'Send the same request again.',
  },
} as const satisfies Record<string, ErrorDescription>;

export type ErrorCode = keyof typeof errorCodes;

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
    .meta({ description: 'Of `invalid_argument`: every mistake of the request.' }),
  reason: z
    .enum([
      'retention',
      'restored',
      'no_credit',
      'spend_cap',
      'usage_cap',
      'credentials',
      'rate_limit',
      'concurrency',
      'plan_limit',
      'share',
      'capacity',
    ])
    .optional()
    .meta({
      description:
        'Of `out_of_range`: matches behind the cursor were removed by retention, or the match log was restored to an earlier state and the cursor is of what was lost. Of `failed_precondition`: what keeps the platform from taking rules. Of `resource_exhausted`: the kind of limit; waiting helps against `rate_limit` and `concurrency` only.',
    }),
  what_to_do: z.string().optional().meta({ description: 'What the operator of the service has to do.' }),
  oldest_cursor: z.string().optional().meta({ description: 'Where to continue after `out_of_range`.' }),
  required_scope: z.enum(scopes).optional().meta({ description: 'The scope that the key lacks.' }),
  plan: z.string().optional().meta({ description: 'The plan of the account.' }),
  platform: platformSchema.optional().meta({ description: 'The platform that the error is about.' }),
  limit: z.number().optional().meta({ description: 'How much is allowed.' }),
  used: z.number().optional().meta({ description: 'How much of it is in use.' }),
  contact: z.string().optional().meta({ description: 'Whom to ask for a higher limit.' }),
  reader: z
    .strictObject({
      of: z.enum(['matches', 'notices']).meta({ description: 'What it reads.' }),
      rule_id: z.string().nullable().meta({ description: 'Only matches of this rule; null: of every rule.' }),
      platform: platformSchema
        .nullable()
        .meta({ description: 'Only matches on this platform; null: on every platform.' }),
    })
    .optional()
    .meta({ description: 'The filter that the named reader has.' }),
  budget: budgetTerms.optional().meta({ description: 'The budget that does not allow the change.' }),
  estimate: perPlatform(estimateSchema)
    .optional()
    .meta({ description: 'What the rule would match and cost on each of its platforms.' }),
});

export const errorSchema = z
  .strictObject({
    code: z.enum(errorCodeList).meta({ description: 'For programs.' }),
    message: z.string().meta({ description: 'For people; says what to do.' }),
    details: errorDetailsSchema.meta({ description: 'For programs; what is in it depends on the code.' }),
  })
  .meta({ description: 'Every answer that is not a success.' });

export const exampleError = {
  code: 'not_found',
  message: 'There is no such rule: list your rules to see the ids that exist.',
  details: { request_id: 'req_01kb2mp8r4t7v1x5z9b3c6d0fg' },
} as const satisfies ErrorEnvelope;

export type ErrorEnvelope = z.output<typeof errorSchema>;
export type ErrorDetails = z.output<typeof errorDetailsSchema>;
