import { z } from 'zod';
import { ruleId, timestamp } from './answer-fields.ts';
import { platformSchema } from './platforms.ts';
import {
  alsoWhenFieldsFail,
  integer,
  requestIssue,
  requestObject,
  requestTime,
  text,
} from './request-fields.ts';

const webhookId = z.string().regex(/^whk_[0-9A-Za-z]+$/);
const matchId = z.string().regex(/^mat_[0-9A-Za-z]+$/);
const asked = text({ max: 100, description: 'Id of the webhook.' });
const name = text({ max: 200, description: 'A name that no other webhook of the account has.' });
const url = text({
  max: 2_000,
  description: 'Where the matches are posted: `https`, port 443 or 8443, on the public internet.',
});
const ruleFilter = text({ max: 100, description: 'Only matches of this rule.' });

export const createWebhookRequest = requestObject({
  name,
  url,
  rule_id: ruleFilter.optional(),
  platform: platformSchema.optional().meta({ description: 'Only matches on this platform.' }),
});

const secret = z.string().nullable().meta({
  description:
    'The signing secret, `whsec_…`. It is shown this once: when the answer is repeated for an `Idempotency-Key`, it is null.',
});

export const createWebhookAnswer = z.strictObject({ webhook_id: webhookId, secret, created_at: timestamp });

export const webhookSchema = z
  .strictObject({
    id: webhookId,
    name: z.string(),
    url: z.string(),
    rule_id: ruleId.nullable(),
    platform: platformSchema.nullable(),
    state: z.enum(['active', 'paused', 'disabled']).meta({
      description:
        '`disabled`: given up by the service; see `disabled_because`. `UpdateWebhook` makes it active again.',
    }),
    disabled_because: z.enum(['gone', 'failing']).nullable().meta({
      description: '`gone`: the endpoint answered 410. `failing`: five days of nothing but failures.',
    }),
    failing_since: timestamp.nullable().meta({ description: 'Null while deliveries succeed.' }),
    next_attempt_at: timestamp
      .nullable()
      .meta({ description: 'When a failed delivery is tried again; null when none waits.' }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ description: 'An endpoint that matches are pushed to.' });

export const listWebhooksRequest = requestObject({});
export const listWebhooksAnswer = z.strictObject({
  webhooks: z.array(webhookSchema).meta({ description: 'Newest first.' }),
});

export const updateWebhookRequest = requestObject({
  webhook_id: asked,
  name: name.optional(),
  url: url.optional(),
  rule_id: ruleFilter.nullable().optional().meta({ description: 'Only this rule; null: every rule.' }),
  platform: platformSchema.nullable().optional().meta({ description: 'Only this platform; null: both.' }),
  state: z.enum(['active', 'paused']).optional().meta({
    description: '`active` also enables a disabled webhook. It goes on where it stopped.',
  }),
}).superRefine((request, context) => {
  const { webhook_id: _, ...changes } = request ?? {};
  if (Object.keys(changes).length === 0)
    context.addIssue(requestIssue('required', 'Name at least one field to change.'));
}, alsoWhenFieldsFail);

export const deleteWebhookRequest = requestObject({ webhook_id: asked });
export const deleteWebhookAnswer = z.strictObject({ webhook_id: webhookId, deleted_at: timestamp });

export const rotateWebhookSecretRequest = requestObject({ webhook_id: asked });
export const rotateWebhookSecretAnswer = z.strictObject({
  webhook_id: webhookId,
  secret,
  previous_valid_until: timestamp.meta({
    description: 'Until then every message also bears the signature of the secret before.',
  }),
});

const attemptFields = {
  outcome: z.enum(['delivered', 'failed', 'refused', 'gone', 'not_sent', 'parked']).meta({
    description:
      '`refused`: a 4xx answer. `not_sent`: our own network failed, which is not held against the endpoint. `parked`: a match that the endpoint refuses while it takes others; it was left out.',
  }),
  status: z.int().nullable().meta({ description: 'HTTP status; null when there was no answer.' }),
  latency_ms: z.int().min(0).nullable(),
  detail: z.string().nullable().meta({ description: 'Why there was no answer.' }),
  response: z.string().nullable().meta({ description: 'The first 1 KiB of the answer.' }),
};

export const testWebhookRequest = requestObject({ webhook_id: asked });
export const testWebhookAnswer = z.strictObject({ webhook_id: webhookId, ...attemptFields });

export const deliverySchema = z
  .strictObject({
    id: z.string().regex(/^dlv_[0-9A-Za-z]+$/),
    at: timestamp,
    message_id: z.string().nullable().meta({
      description: 'The `webhook-id` header: the same on every attempt. Null for a parked match.',
    }),
    attempt: z.int().min(1).nullable().meta({ description: 'Null for a parked match.' }),
    match_count: z.int().min(1),
    first_match_id: matchId,
    last_match_id: matchId,
    ...attemptFields,
  })
  .meta({ description: 'One attempt to deliver a batch, or one match that was parked.' });

export const listDeliveriesRequest = requestObject({
  webhook_id: asked,
  outcome: z
    .enum(['delivered', 'failed', 'refused', 'gone', 'not_sent', 'parked'])
    .optional()
    .meta({ description: 'Only these, such as `parked` for the matches that were left out.' }),
  limit: integer(1, 100).default(50).meta({ description: 'Entries per page.' }),
  cursor: text({ max: 1_024, description: '`next_cursor` of the page before.' }).optional(),
});
export const listDeliveriesAnswer = z.strictObject({
  deliveries: z.array(deliverySchema).meta({
    description: 'Newest first. What was delivered is listed for a day, everything else for 30 days.',
  }),
  next_cursor: z.string().nullable().meta({ description: 'Continues the list; null when it is complete.' }),
});

export const replayWebhookRequest = requestObject({
  webhook_id: asked,
  since: requestTime
    .optional()
    .meta({ description: 'Again from the first match created at or after this time.' }),
  from_match_id: text({ max: 100, description: 'Again from this match on.' }).optional(),
}).superRefine((request, context) => {
  const given = [request?.since, request?.from_match_id].filter((one) => one !== undefined);
  if (given.length !== 1)
    context.addIssue(requestIssue('required', 'Name either "since" or "from_match_id".', ['since']));
}, alsoWhenFieldsFail);
export const replayWebhookAnswer = z.strictObject({
  webhook_id: webhookId,
  from_match_id: matchId.nullable().meta({
    description: 'The first match that is sent again; null when there is none, and nothing changed.',
  }),
});

export type Webhook = z.output<typeof webhookSchema>;
export type Delivery = z.output<typeof deliverySchema>;
