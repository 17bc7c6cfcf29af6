import { z } from 'zod';
import { nextCursor, relevanceFilter, ruleId, timestamp } from './answer-fields.ts';
import { defineOperations } from './operation.ts';
import { platformSchema } from './platforms.ts';
import {
  alsoWhenFieldsFail,
  distinct,
  integer,
  longPageLimit,
  pageCursor,
  platformFilter,
  requestIssue,
  requestObject,
  rulesFilter,
  text,
} from './request-fields.ts';
import { groupBy } from './stories.ts';

export const webhookId = z
  .string()
  .regex(/^whk_[0-9A-Za-z]+$/)
  .meta({ description: 'Id of the webhook.' });
export const askedWebhookId = text({ max: 100, description: 'Id of the webhook.' });
const name = text({ max: 200, description: 'A name that no other webhook of the account has.' });
const url = text({
  max: 2_000,
  description: 'Where the matches are posted: `https`, port 443 or 8443, on the public internet.',
});

const eventNames = ['matches', 'notices'] as const;
const askedEvents = distinct(eventNames, 'event').optional();

const chatFormats = ['slack', 'discord', 'teams'] as const;
const webhookFormats = ['standard', 'cloudevents', ...chatFormats] as const;
export type WebhookFormat = (typeof webhookFormats)[number];
export type ChatFormat = (typeof chatFormats)[number];

export function isChatFormat(format: WebhookFormat): format is ChatFormat {
  return chatFormats.some((one) => one === format);
}

const format = z.enum(webhookFormats);
const formatDescription =
  '`standard`: Standard Webhooks. `cloudevents`: a batch of CloudEvents 1.0, signed in the same way. `slack`, `discord`, `teams`: a message for people, to the URL of an incoming webhook of the chat.';
/** Of programs and of chats. */
export const windowSecondsDefault = 1;
export const chatWindowSecondsDefault = 60;
const chatWindowSecondsMin = 30;
const windowSeconds = integer(0, 86_400);
const windowDescription =
  'Seconds. The endpoint gets at most one message with matches in this time, and full messages at once.';
const windowDefaults = `${windowSecondsDefault} by default. A chat: ${chatWindowSecondsMin} or more, ${chatWindowSecondsDefault} by default.`;
export const webhookMatchesMax = 100;
const maxMatches = integer(1, webhookMatchesMax);
const maxMatchesDescription =
  'The most matches in one message. Not for chats, which show some and count the rest.';

/** What a request for this format gets wrong; null if it is right. */
export function windowProblem(format: WebhookFormat, seconds: number | undefined): string | null {
  const isTooShort = isChatFormat(format) && seconds !== undefined && seconds < chatWindowSecondsMin;
  return isTooShort ? `Must be ${chatWindowSecondsMin} or more for a chat.` : null;
}

const secret = z.string().nullable().meta({
  description:
    'The signing secret, `whsec_…`. It is shown this once. Null for a chat, and when the answer is repeated for an `Idempotency-Key`.',
});

const relevanceMeans =
  'Which matches are left out, as in ListMatches. A match waits for its verdict for 30 s at the most.';

const groupMeans =
  'Posts each story once, with its first match, and again when it has grown to 10, 100, 1,000 and 10,000 matches. Stories that began before the webhook are new to it.';

export const webhookSchema = z
  .strictObject({
    id: webhookId,
    name: z.string().meta({ description: 'A name that no other webhook of the account has.' }),
    url: z.string().meta({
      description:
        'Where the matches are posted. Of a chat only the host is shown, since its URL is a credential.',
    }),
    format: format.meta({ description: formatDescription }),
    window_seconds: z.int().min(0).meta({ description: windowDescription }),
    max_matches: z.int().min(1).meta({ description: maxMatchesDescription }),
    rule_ids: z.array(ruleId).nullable().meta({
      description: 'Only matches of these rules; null: of every rule. A deleted rule has no matches.',
    }),
    platform: platformSchema
      .nullable()
      .meta({ description: 'Only matches on this platform; null: on every platform.' }),
    relevance: relevanceFilter.meta({ description: relevanceMeans }),
    group: groupBy.nullable().meta({ description: `${groupMeans} Null: it posts every match.` }),
    events: z.array(z.enum(eventNames)).meta({
      description:
        'What is posted: `matches`, narrowed by `rule_ids` and `platform`; `notices`: all of the account, one in each message.',
    }),
    state: z.enum(['active', 'paused', 'disabled']).meta({
      description: '`disabled`: Earshot has stopped trying; see `reason`. `UpdateWebhook` enables it again.',
    }),
    reason: z.enum(['gone', 'failing']).nullable().meta({
      description:
        'Why it is disabled; null if it is not. `gone`: the endpoint answered 410, or that of a chat 401, 403 or 404. `failing`: five days of nothing but failures.',
    }),
    failing_since: timestamp.nullable().meta({ description: 'Null while deliveries succeed.' }),
    next_attempt_at: timestamp
      .nullable()
      .meta({ description: 'When a failed delivery is tried again; null when none waits.' }),
    created_at: timestamp.meta({ description: 'When it was created.' }),
    updated_at: timestamp.meta({ description: 'When it last changed.' }),
  })
  .meta({ description: 'An endpoint that matches are pushed to.' });

export type Webhook = z.output<typeof webhookSchema>;

export const exampleWebhookId = 'whk_01kb2n0a4c7q5t8w3y6z1v0n2p';
const created_at = '2026-11-14T22:46:00.000Z';
const exampleWebhook = {
  id: exampleWebhookId,
  name: 'alerts',
  url: 'https://hooks.example.com/earshot',
  format: 'standard',
  window_seconds: 1,
  max_matches: webhookMatchesMax,
  rule_ids: ['rule_01kb2m9x4c7q5t8w3y6z1v0n2p'],
  platform: null,
  relevance: 'all',
  group: null,
  events: ['matches'],
  state: 'active',
  reason: null,
  failing_since: null,
  next_attempt_at: null,
  created_at,
  updated_at: created_at,
} as const;

export const notForChats = 'Works only with the formats "standard" and "cloudevents".';

/** Matches pushed to a URL, signed by Standard Webhooks. */
export const webhookOperations = defineOperations('Webhooks', {
  CreateWebhook: {
    scope: 'webhooks:write',
    changes: true,
    summary: 'Create a webhook',
    description:
      'Posts every match from now on to the URL: signed by Standard Webhooks, in order, at least once. The secret is shown once. Messages for a chat are not signed, so a chat has no secret.',
    request: requestObject({
      name,
      url,
      format: format.default('standard').meta({ description: formatDescription }),
      window_seconds: windowSeconds.optional().meta({
        description: `${windowDescription} ${windowDefaults}`,
      }),
      max_matches: maxMatches.optional().meta({
        description: `${maxMatchesDescription} ${webhookMatchesMax} by default.`,
      }),
      rule_ids: rulesFilter,
      platform: platformFilter,
      relevance: relevanceFilter.optional().meta({ description: `${relevanceMeans} \`all\` by default.` }),
      group: groupBy.optional().meta({ description: groupMeans }),
      events: askedEvents.meta({ description: 'What is posted; `matches` by default.' }),
    }).superRefine((request, context) => {
      const problem = request && windowProblem(request.format, request.window_seconds);
      if (problem) context.addIssue(requestIssue('invalid_value', problem, ['window_seconds']));
      if (request?.max_matches !== undefined && isChatFormat(request.format))
        context.addIssue(requestIssue('invalid_value', notForChats, ['max_matches']));
    }, alsoWhenFieldsFail),
    answer: webhookSchema.extend({ webhook_id: webhookId, secret }),
    errors: ['not_found', 'already_exists', 'failed_precondition', 'aborted'],
    example: {
      request: { name: exampleWebhook.name, url: exampleWebhook.url, rule_ids: [...exampleWebhook.rule_ids] },
      answer: { ...exampleWebhook, webhook_id: exampleWebhookId, secret: 'whsec_…' },
    },
  },
  ListWebhooks: {
    scope: 'webhooks:read',
    changes: false,
    summary: 'List webhooks',
    description: 'Lists the webhooks of the account with their delivery state, without their secrets.',
    request: requestObject({ limit: longPageLimit, cursor: pageCursor }),
    answer: z.strictObject({
      webhooks: z.array(webhookSchema).meta({ description: 'Newest first.' }),
      next_cursor: nextCursor,
    }),
    example: { request: {}, answer: { webhooks: [exampleWebhook], next_cursor: null } },
  },
  UpdateWebhook: {
    scope: 'webhooks:write',
    changes: true,
    summary: 'Change, pause or enable a webhook',
    description:
      'Changes the fields that are named. A paused or disabled webhook continues where it stopped. If you send `state: "active"`, a failing webhook is tried at once.',
    request: requestObject({
      webhook_id: askedWebhookId,
      name: name.optional(),
      url: url.optional(),
      format: format.optional().meta({
        description:
          'A new format. To change from a chat format to `standard` or `cloudevents`, also send a `url`, then rotate the secret to get one.',
      }),
      window_seconds: windowSeconds.optional().meta({ description: windowDescription }),
      max_matches: maxMatches.optional().meta({ description: maxMatchesDescription }),
      rule_ids: rulesFilter.meta({
        description:
          'Only matches of these rules; null: of every rule. Matches of an added rule are posted from now on, or from where the webhook stopped if it has not sent everything.',
      }),
      platform: platformSchema
        .nullable()
        .optional()
        .meta({ description: 'Only this platform; null: every platform.' }),
      relevance: relevanceFilter.optional().meta({ description: relevanceMeans }),
      group: groupBy.nullable().optional().meta({ description: groupMeans }),
      events: askedEvents.meta({ description: 'Which events are posted from now on.' }),
      state: z.enum(['active', 'paused']).optional().meta({
        description: '`active` also enables a disabled webhook. It continues where it stopped.',
      }),
    }).superRefine((request, context) => {
      const { webhook_id: _, ...changes } = request ?? {};
      if (Object.keys(changes).length === 0)
        context.addIssue(requestIssue('required', 'Name at least one field to change.'));
    }, alsoWhenFieldsFail),
    answer: webhookSchema,
    errors: ['not_found', 'already_exists', 'aborted'],
    example: {
      request: { webhook_id: exampleWebhookId, state: 'paused' },
      answer: { ...exampleWebhook, state: 'paused', updated_at: '2026-11-15T08:00:00.000Z' },
    },
  },
  DeleteWebhook: {
    scope: 'webhooks:write',
    changes: true,
    summary: 'Delete a webhook',
    description:
      'Ends the deliveries. A message that is already being sent may still arrive. A webhook that a digest is sent to cannot be deleted.',
    request: requestObject({ webhook_id: askedWebhookId }),
    answer: z.strictObject({
      webhook_id: webhookId,
      deleted_at: timestamp.meta({ description: 'When it was deleted.' }),
    }),
    errors: ['not_found', 'failed_precondition', 'aborted'],
    example: {
      request: { webhook_id: exampleWebhookId },
      answer: { webhook_id: exampleWebhookId, deleted_at: '2026-11-15T08:00:00.000Z' },
    },
  },
  RotateWebhookSecret: {
    scope: 'webhooks:write',
    changes: true,
    summary: 'Rotate a webhook secret',
    description:
      'For 24 hours, messages have the signatures of both secrets. Refused for a chat, whose messages are not signed.',
    request: requestObject({ webhook_id: askedWebhookId }),
    answer: z.strictObject({
      webhook_id: webhookId,
      secret,
      previous_expires_at: timestamp.meta({
        description: 'Until then, every message also has the signature of the previous secret.',
      }),
    }),
    errors: ['not_found', 'failed_precondition', 'aborted'],
    example: {
      request: { webhook_id: exampleWebhookId },
      answer: {
        webhook_id: exampleWebhookId,
        secret: 'whsec_…',
        previous_expires_at: '2026-11-16T08:00:00.000Z',
      },
    },
  },
});
