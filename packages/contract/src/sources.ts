import { z } from 'zod';
import { timestamp } from './answer-fields.ts';
import { defineOperations } from './operation.ts';
import { platformSchema } from './platforms.ts';
import { requestObject } from './request-fields.ts';

/** The states of a source: whether it receives, and if not, why. */
export const sourceStates = [
  'starting',
  'live',
  'reconnecting',
  'failing',
  'rate_limited',
  'connection_in_use',
  'no_rules',
  'rules_invalid',
  'provisioning',
  'no_credit',
  'spend_cap',
  'usage_cap',
  'budget',
  'credentials',
  'bad_request',
  'degraded',
  'log_unavailable',
  'stopped',
] as const;
export type SourceState = (typeof sourceStates)[number];

export const sourceOperations = defineOperations('Sources', {
  ListSources: {
    scope: 'rules:read',
    changes: false,
    summary: 'List sources',
    description:
      'Lists each connection to a platform: whether it receives, since when, and what to do if it does not.',
    request: requestObject({}),
    answer: z.strictObject({
      sources: z
        .array(
          z.strictObject({
            platform: platformSchema.meta({ description: 'The platform that it receives from.' }),
            name: z.string().meta({ description: 'The name that the operator gave it.' }),
            state: z
              .enum(sourceStates)
              .meta({ description: 'Whether it receives. If the operator must act, `what_to_do` says how.' }),
            since: timestamp.meta({ description: 'When this state began.' }),
            received_until: timestamp.nullable().meta({
              description: 'The time up to which it is known to have received. Null: never.',
            }),
            what_to_do: z.string().meta({ description: 'For the operator of the service.' }),
            message: z.string().optional().meta({ description: "The platform's own error message." }),
          }),
        )
        .meta({ description: 'All connections.' }),
    }),
    errors: [],
    example: {
      request: {},
      answer: {
        sources: [
          {
            platform: 'x',
            name: 'main',
            state: 'no_credit',
            since: '2026-11-14T22:47:00.000Z',
            received_until: '2026-11-14T22:46:59.000Z',
            what_to_do: 'Add credit to the upstream account. It is retried automatically.',
            message: 'X answered 402: CreditsDepleted',
          },
        ],
      },
    },
  },
});
