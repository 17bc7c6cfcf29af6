import { z } from 'zod';
import { matchId, nextCursor, timestamp } from './answer-fields.ts';
import { defineOperations } from './operation.ts';
import {
  alsoWhenFieldsFail,
  pageCursor,
  pageLimit,
  requestIssue,
  requestObject,
  requestTime,
  text,
} from './request-fields.ts';
import { askedWebhookId, exampleWebhookId, webhookId } from './webhooks.ts';

const outcome = z.enum(['delivered', 'failed', 'refused', 'gone', 'not_sent', 'parked']);

const attemptFields = {
  outcome: outcome.meta({
    description:
      '`refused`: a 4xx answer. `not_sent`: our own network failed, which is not held against the endpoint. `parked`: a match that the endpoint refuses while it takes others; it was left out.',
  }),
  status: z.int().nullable().meta({ description: 'HTTP status; null when there was no answer.' }),
  latency_ms: z
    .int()
    .min(0)
    .nullable()
    .meta({ description: 'How long the answer took; null when there was none.' }),
  message: z.string().nullable().meta({ description: 'Why there was no answer.' }),
  response: z.string().nullable().meta({ description: 'The first 1 KiB of the answer.' }),
};

export const deliverySchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^dlv_[0-9A-Za-z]+$/)
      .meta({ description: 'Id of the attempt.' }),
    created_at: timestamp.meta({ description: 'When the attempt was made, the first of `times`.' }),
    message_id: z.string().nullable().meta({
      description: 'The `webhook-id` header: the same on every attempt. Null for a parked match.',
    }),
    attempt: z.int().min(1).nullable().meta({ description: 'Null for a parked match.' }),
    match_count: z
      .int()
      .min(0)
      .meta({ description: 'Matches in it, and removals of matches; 0 for a notice.' }),
    first_match_id: matchId.nullable().meta({ description: 'Null for a notice.' }),
    last_match_id: matchId.nullable().meta({ description: 'Null for a notice.' }),
    times: z.int().min(1).meta({
      description:
        'How many attempts in a row had this answer. Repeated failures are counted here, and get another entry about once an hour. Messages that were accepted at the first attempt are counted too, with an entry a minute: the other fields are then those of the last one, and `match_count` and `first_match_id` of all of them.',
    }),
    last_at: timestamp.meta({ description: 'When the last of them was made.' }),
    notice_id: z.string().optional().meta({ description: 'Only for a notice.' }),
    ...attemptFields,
  })
  .meta({
    description:
      'One attempt to deliver a message, or several with the same answer, or one match that was parked.',
  });

export type Delivery = z.output<typeof deliverySchema>;

const exampleAttempt = {
  outcome: 'delivered',
  status: 204,
  latency_ms: 82,
  message: null,
  response: '',
} as const;

/** What became of the messages of a webhook. */
export const deliveryOperations = defineOperations('Webhooks', {
  TestWebhook: {
    scope: 'webhooks:write',
    // It sends a request to an address that the caller chose, so the stricter limit applies, and it is audited.
    changes: true,
    summary: 'Send a test message',
    description:
      'Posts a test message in the format of the webhook once, now, and returns the answer of the endpoint. If the endpoint accepts it, Earshot retries a waiting delivery at once. Counts as a change.',
    request: requestObject({ webhook_id: askedWebhookId }),
    answer: z.strictObject({ webhook_id: webhookId, ...attemptFields }),
    errors: ['not_found', 'failed_precondition', 'aborted'],
    example: {
      request: { webhook_id: exampleWebhookId },
      answer: { webhook_id: exampleWebhookId, ...exampleAttempt },
    },
  },
  ListDeliveries: {
    scope: 'webhooks:read',
    changes: false,
    summary: 'List deliveries of a webhook',
    description:
      'Lists attempts with their outcome, and the matches that were parked. Newest first. Of failures in a row with the same answer, the first three and then one in sixty have an entry, and `times` counts the others.',
    request: requestObject({
      webhook_id: askedWebhookId,
      outcome: outcome
        .optional()
        .meta({ description: 'Only these, such as `parked` for the matches that were left out.' }),
      limit: pageLimit,
      cursor: pageCursor,
    }),
    answer: z.strictObject({
      deliveries: z.array(deliverySchema).meta({
        description: 'Newest first. What was delivered is listed for a day, everything else for 30 days.',
      }),
      next_cursor: nextCursor,
    }),
    errors: ['not_found'],
    example: {
      request: { webhook_id: exampleWebhookId, limit: 50 },
      answer: {
        deliveries: [
          {
            id: 'dlv_01kb2n0a4c7q5t8w3y6z1v0n2p',
            created_at: '2026-11-14T22:47:00.000Z',
            message_id: 'msg_7rQ2mXk0bT4n9wYc1sVfZg',
            attempt: 1,
            match_count: 2,
            first_match_id: 'mat_0000000002rs',
            last_match_id: 'mat_0000000002rt',
            times: 1,
            last_at: '2026-11-14T22:47:00.000Z',
            ...exampleAttempt,
          },
        ],
        next_cursor: null,
      },
    },
  },
  ReplayWebhook: {
    scope: 'webhooks:write',
    changes: true,
    summary: 'Send matches again',
    description:
      'Moves the webhook back to a time or a match. Everything from there on is sent again, including parked matches.',
    request: requestObject({
      webhook_id: askedWebhookId,
      from: requestTime
        .optional()
        .meta({ description: 'Again from the first match created at or after this time.' }),
      from_match_id: text({ max: 100, description: 'Again from this match on.' }).optional(),
    }).superRefine((request, context) => {
      const given = [request?.from, request?.from_match_id].filter((one) => one !== undefined);
      if (given.length !== 1)
        context.addIssue(requestIssue('required', 'Send either "from" or "from_match_id".', ['from']));
    }, alsoWhenFieldsFail),
    answer: z.strictObject({
      webhook_id: webhookId,
      from_match_id: matchId.nullable().meta({
        description: 'The first match that is sent again; null when there is none, and nothing changed.',
      }),
    }),
    errors: ['not_found', 'aborted'],
    example: {
      request: { webhook_id: exampleWebhookId, from: '2026-11-14T00:00:00.000Z' },
      answer: { webhook_id: exampleWebhookId, from_match_id: 'mat_0000000002rs' },
    },
  },
});
