import { z } from 'zod';
import { nextCursor, relevanceFilter, ruleId, timestamp } from './answer-fields.ts';
import { defineOperations } from './operation.ts';
import { platformSchema } from './platforms.ts';
import {
  alsoWhenFieldsFail,
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
import { askedWebhookId, exampleWebhookId, webhookId } from './webhooks.ts';

const digestId = z
  .string()
  .regex(/^dig_[0-9A-Za-z]+$/)
  .meta({ description: 'Id of the digest.' });
const askedDigestId = text({ max: 100, description: 'Id of the digest.' });
const name = text({ max: 200, description: 'A name that no other digest of the account has.' });

const addressesMax = 10;
/**
 * One plain address: no display name, no quotes, no comments, nothing that could begin another header. Also no "%" and "!": some mail
 * servers relay a%other.example@example.com and other.example!a@example.com to other.example.
 */
export const mailAddress =
  /^[A-Za-z0-9.#$&'*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}$/;

const address = text({ max: 254, description: 'One address, such as `team@example.com`.' }).superRefine(
  (value, context) => {
    if (!mailAddress.test(value))
      context.addIssue(requestIssue('invalid_value', 'Must be one address, such as "team@example.com".'));
  },
);

const anyFields = z.looseObject({});
const windowInZone = z.looseObject({ window_seconds: z.number(), time_zone: z.string() });

/** Takes anything: it also runs when fields are missing or wrong. */
function exactlyOneOf(...choices: readonly string[]) {
  return (given: unknown, context: z.core.$RefinementCtx) => {
    const fields = anyFields.safeParse(given);
    if (!fields.success) return;
    const named = choices.filter((choice) => fields.data[choice] !== undefined);
    if (named.length === 1) return;
    const message = `Must have exactly one of ${choices.map((choice) => `"${choice}"`).join(' and ')}.`;
    context.addIssue(requestIssue('invalid_value', message));
  };
}

const schedule = requestObject(
  {
    cron: text({
      max: 100,
      description: 'When it is sent: minute, hour, day of the month, month and day of the week.',
    }).optional(),
    time_zone: text({
      max: 100,
      description: 'Of `cron`, such as `Europe/Berlin`; `UTC` by default.',
    }).optional(),
    window_seconds: integer(30, 86_400)
      .optional()
      .meta({ description: 'Instead of `cron`: every so many seconds.' }),
  },
  'a schedule',
)
  .superRefine(exactlyOneOf('cron', 'window_seconds'), alsoWhenFieldsFail)
  .superRefine((given: unknown, context) => {
    if (windowInZone.safeParse(given).success)
      context.addIssue(requestIssue('invalid_value', 'Works only with "cron".', ['time_zone']));
  }, alsoWhenFieldsFail)
  .meta({ description: 'When it is sent: by `cron`, or every `window_seconds`.' });

const recipients = requestObject(
  {
    webhook_id: askedWebhookId.optional(),
    email: z
      .array(address)
      .max(100)
      .superRefine((listed, context) => {
        if (listed.length === 0)
          context.addIssue(requestIssue('too_short', 'Must name at least one address.'));
        if (listed.length > addressesMax)
          context.addIssue(requestIssue('too_long', `Must name at most ${addressesMax} addresses.`));
      }, alsoWhenFieldsFail)
      .optional()
      .meta({ minItems: 1, maxItems: addressesMax, description: 'Addresses that the operator allows.' }),
  },
  'a recipient',
)
  .superRefine(exactlyOneOf('webhook_id', 'email'), alsoWhenFieldsFail)
  .meta({ description: 'Where it is sent: to a webhook, or by e-mail.' });

const relevanceMeans = 'Which matches are not shown, as in ListMatches. They are counted.';
const groupMeans =
  'Shows each story once, stories with the most matches first, with the number of their matches per platform. All of its matches are counted.';
const minMatches = integer(1, 10_000);
const minMatchesMeans =
  'The digest is sent only if at least this many matches are waiting; fewer wait for the next time. Default: 1.';
const empty = z.enum(['skip', 'send']);
const emptyMeans = 'What to do if nothing has matched: `skip` (the default) sends nothing.';
const maxMatches = integer(1, 100);
const maxMatchesMeans =
  'How many matches the message shows, newest first; it counts all of them. Default: 50.';

export const digestSchema = z
  .strictObject({
    id: digestId,
    name: z.string().meta({ description: 'A name that no other digest of the account has.' }),
    rule_ids: z.array(ruleId).nullable().meta({
      description: 'Only matches of these rules; null: of every rule. A deleted rule has no matches.',
    }),
    platform: platformSchema
      .nullable()
      .meta({ description: 'Only matches on this platform; null: on every platform.' }),
    relevance: relevanceFilter.meta({ description: relevanceMeans }),
    group: groupBy.nullable().meta({ description: `${groupMeans} Null: it shows matches.` }),
    schedule: z
      .strictObject({
        cron: z.string().optional().meta({ description: 'Five fields.' }),
        time_zone: z.string().optional().meta({ description: 'Of `cron`.' }),
        window_seconds: z.int().optional().meta({ description: 'Instead of `cron`.' }),
      })
      .meta({ description: 'When it is sent.' }),
    recipients: z
      .strictObject({
        webhook_id: webhookId.optional(),
        email: z.array(z.string()).optional().meta({ description: 'Addresses.' }),
      })
      .meta({ description: 'Where it is sent.' }),
    min_matches: z.int().meta({ description: minMatchesMeans }),
    empty: empty.meta({ description: emptyMeans }),
    max_matches: z.int().meta({ description: maxMatchesMeans }),
    next_at: timestamp.meta({ description: 'When it is due next.' }),
    last_number: z
      .int()
      .min(0)
      .meta({ description: 'The number of the latest digest message; 0 before the first.' }),
    last_sent_at: timestamp.nullable().meta({ description: 'When a digest message was last accepted.' }),
    message: z.string().nullable().meta({
      description: 'Why the latest digest message was not sent or not made; null if it was sent.',
    }),
    created_at: timestamp.meta({ description: 'When it was created.' }),
    updated_at: timestamp.meta({ description: 'When it was last changed by a request.' }),
  })
  .meta({ description: 'Matches that are sent together, on a schedule.' });

export type Digest = z.output<typeof digestSchema>;

const exampleDigestId = 'dig_01kb2n0a4c7q5t8w3y6z1v0n2p';
const created_at = '2026-11-14T22:46:00.000Z';
const exampleDigest = {
  id: exampleDigestId,
  name: 'morning report',
  rule_ids: null,
  platform: null,
  relevance: 'all',
  group: null,
  schedule: { cron: '0 9 * * 1-5', time_zone: 'Europe/Berlin' },
  recipients: { webhook_id: exampleWebhookId },
  min_matches: 1,
  empty: 'send',
  max_matches: 50,
  next_at: '2026-11-16T08:00:00.000Z',
  last_number: 0,
  last_sent_at: null,
  message: null,
  created_at,
  updated_at: created_at,
} as const;

/** Matches that are sent together, on a schedule. */
export const digestOperations = defineOperations('Digests', {
  CreateDigest: {
    scope: 'webhooks:write',
    changes: true,
    summary: 'Create a digest',
    description:
      'Sends the matches from now on, on a schedule, to a webhook or by e-mail. Each match is in one digest message.',
    request: requestObject({
      name,
      rule_ids: rulesFilter,
      platform: platformFilter,
      relevance: relevanceFilter.optional().meta({ description: `${relevanceMeans} \`all\` by default.` }),
      group: groupBy.optional().meta({ description: groupMeans }),
      schedule,
      recipients,
      min_matches: minMatches.default(1).meta({ description: minMatchesMeans }),
      empty: empty.default('skip').meta({ description: emptyMeans }),
      max_matches: maxMatches.default(50).meta({ description: maxMatchesMeans }),
    }),
    answer: digestSchema,
    errors: ['not_found', 'already_exists', 'failed_precondition', 'aborted'],
    example: {
      request: {
        name: exampleDigest.name,
        schedule: exampleDigest.schedule,
        recipients: exampleDigest.recipients,
        empty: 'send',
      },
      answer: exampleDigest,
    },
  },
  ListDigests: {
    scope: 'webhooks:read',
    changes: false,
    summary: 'List digests',
    description:
      'Lists the digests of the account, when each is due next, and why the latest message was not sent.',
    request: requestObject({ limit: longPageLimit, cursor: pageCursor }),
    answer: z.strictObject({
      digests: z.array(digestSchema).meta({ description: 'Newest first.' }),
      next_cursor: nextCursor,
    }),
    example: { request: {}, answer: { digests: [exampleDigest], next_cursor: null } },
  },
  UpdateDigest: {
    scope: 'webhooks:write',
    changes: true,
    summary: 'Change a digest',
    description:
      'Changes the fields that you send. A digest message that waits to be sent goes to the new recipient.',
    request: requestObject({
      digest_id: askedDigestId,
      name: name.optional(),
      rule_ids: rulesFilter.meta({
        description:
          'Only matches of these rules; null: of every rule. Applies to every digest message that is not sent yet.',
      }),
      relevance: relevanceFilter.optional().meta({ description: relevanceMeans }),
      group: groupBy.nullable().optional().meta({ description: groupMeans }),
      schedule: schedule.optional(),
      recipients: recipients.optional(),
      min_matches: minMatches.optional().meta({ description: minMatchesMeans }),
      empty: empty.optional().meta({ description: emptyMeans }),
      max_matches: maxMatches.optional().meta({ description: maxMatchesMeans }),
    }).superRefine((request, context) => {
      const { digest_id: _, ...changes } = request ?? {};
      if (Object.keys(changes).length === 0)
        context.addIssue(requestIssue('required', 'Name at least one field to change.'));
    }, alsoWhenFieldsFail),
    answer: digestSchema,
    errors: ['not_found', 'already_exists', 'failed_precondition', 'aborted'],
    example: {
      request: { digest_id: exampleDigestId, empty: 'skip' },
      answer: { ...exampleDigest, empty: 'skip', updated_at: '2026-11-15T08:00:00.000Z' },
    },
  },
  DeleteDigest: {
    scope: 'webhooks:write',
    changes: true,
    summary: 'Delete a digest',
    description:
      'Deletes the digest. A waiting digest message is discarded; one that is already being sent may still arrive. Matches are not affected.',
    request: requestObject({ digest_id: askedDigestId }),
    answer: z.strictObject({
      digest_id: digestId,
      deleted_at: timestamp.meta({ description: 'When it was deleted.' }),
    }),
    errors: ['not_found', 'aborted'],
    example: {
      request: { digest_id: exampleDigestId },
      answer: { digest_id: exampleDigestId, deleted_at: '2026-11-15T08:00:00.000Z' },
    },
  },
});
