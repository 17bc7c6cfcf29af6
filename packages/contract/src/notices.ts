import { z } from 'zod';
import { exampleCursor, timestamp } from './answer-fields.ts';
import { defineOperations } from './operation.ts';
import {
  alsoWhenFieldsFail,
  integer,
  pageLimit,
  requestObject,
  text,
  waitingForNewest,
} from './request-fields.ts';

/** More types may be added: clients ignore types that they do not know. */
const noticeTypes = [
  'budget.threshold',
  'budget.reached',
  'budget.forecast',
  'rate.unusual',
  'alert.spike',
  'alert.drop',
  'alert.recovered',
  'coverage.gap',
  'coverage.repaired',
  'source.action_required',
  'source.disconnected',
  'rule.paused',
  'rule.expired',
  'rule.refused',
  'webhook.failing',
  'webhook.disabled',
  'digest.failing',
  'digest.given_up',
  'archive.failing',
  'judge.drift',
] as const;
export type NoticeType = (typeof noticeTypes)[number];

export const noticeSchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^ntc_[0-9A-Za-z]+$/)
      .meta({ description: 'Id of the notice.' }),
    type: z.enum(noticeTypes).meta({ description: 'Ignore types that you do not know.' }),
    severity: z.enum(['info', 'warning', 'critical']).meta({
      description: '`critical`: until you or the operator act, something is not received or not delivered.',
    }),
    subject: z
      .strictObject({
        kind: z
          .enum(['account', 'key', 'platform', 'rule', 'source', 'webhook', 'digest', 'archive'])
          .meta({ description: 'The kind of resource.' }),
        id: z.string().meta({ description: 'Its id.' }),
        name: z.string().meta({ description: 'Its name, for people.' }),
      })
      .meta({ description: 'The resource that the notice is about.' }),
    data: z.record(z.string(), z.unknown()).meta({
      description: 'For programs: facts, depending on the type. Text of a platform in it is untrusted.',
    }),
    what_to_do: z.string().meta({ description: 'What to do, for people, in one or two sentences.' }),
    created_at: timestamp.meta({ description: 'When it was raised.' }),
    resolved_at: timestamp.nullable().meta({
      description:
        'Null while it is open. A notice that only reports what happened is resolved from the start.',
    }),
  })
  .meta({ description: 'An event in the account that may need action.' });

export type Notice = z.output<typeof noticeSchema>;

const cursor = z.string().meta({ description: 'Opaque; it belongs to the account and to the filter.' });
const askedCursor = (description: string) => text({ max: 1_024, description }).optional();

const exampleNotice = {
  id: 'ntc_01kb2n0a4c7q5t8w3y6z1v0n2p',
  type: 'source.action_required',
  severity: 'critical',
  subject: { kind: 'source', id: 'x:main', name: 'main' },
  data: { platform: 'x', state: 'no_credit' },
  what_to_do:
    'Earshot receives no matches from X until the operator acts: Add credit to the upstream account. It is retried automatically.',
  created_at: '2026-11-14T22:46:00.000Z',
  resolved_at: null,
} as const;

/** Notices have their own log. */
export const noticeOperations = defineOperations('Notices', {
  ListNotices: {
    path: '/notices',
    scope: 'matches:read',
    changes: false,
    summary: 'List notices',
    description:
      'Lists notices. A resolved notice moves to the end of the log, so each is listed once, in its current state. To follow them, send `order: "oldest"`, keep `next_cursor` and send it with the next request: a notice is listed again when it is resolved.',
    request: requestObject({
      open: z.literal(true).optional().meta({ description: 'Only those that are not resolved.' }),
      limit: pageLimit,
      cursor: askedCursor('`next_cursor` of the previous answer.'),
      order: z.enum(['newest', 'oldest']).default('newest').meta({ description: 'Which end to start from.' }),
      wait_seconds: integer(0, 30).optional().meta({
        description:
          'Waits up to this long for something newer than the cursor. Only with `order: "oldest"`.',
      }),
    }).superRefine((request, context) => {
      for (const issue of waitingForNewest(request)) context.addIssue(issue);
    }, alsoWhenFieldsFail),
    answer: z.strictObject({
      notices: z.array(noticeSchema).meta({ description: 'In the requested order.' }),
      next_cursor: z.string().nullable().meta({
        description:
          'Continues in the same direction. Never null with `order: "oldest"`: keep it for the next request.',
      }),
    }),
    errors: ['out_of_range'],
    example: {
      request: { order: 'oldest', wait_seconds: 20 },
      answer: { notices: [exampleNotice], next_cursor: exampleCursor },
    },
  },
  StreamNotices: {
    method: 'GET',
    path: '/notices/stream',
    scope: 'matches:read',
    changes: false,
    stream: true,
    summary: 'Stream notices',
    description:
      'Server-sent events: every notice as it is raised and again when it is resolved, and a comment every 15 seconds. After an interruption send the last `id` as `Last-Event-ID`, and nothing is missed.',
    request: requestObject({
      cursor: askedCursor(
        'Where to begin: the `id` of an event, or `next_cursor` of a list with `order: "oldest"`. Without it the stream begins now.',
      ),
    }),
    answer: z
      .strictObject({
        id: cursor.meta({ description: 'Continues the stream behind this event.' }),
        event: z.enum(['open', 'notice']).meta({
          description: '`open` is the first event and has only an `id`. Ignore names that you do not know.',
        }),
        data: noticeSchema.meta({ description: 'JSON text; `{}` in `open`.' }),
      })
      .meta({ description: 'One event of the stream.' }),
    errors: ['out_of_range'],
    example: {
      request: { cursor: exampleCursor },
      answer: { id: exampleCursor, event: 'notice', data: exampleNotice },
    },
  },
});
