import { z } from 'zod';
import { timestamp } from './answer-fields.ts';
import { defineOperations } from './operation.ts';
import { platformSchema } from './platforms.ts';
import { requestObject } from './request-fields.ts';

/** What a source is doing: is it listening, and if not, what keeps it. */
export const sourceStates = [
  'starting',
  'live',
  'reconnecting',
  'failing',
  'rate_limited',
  'slot_busy',
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

export const sourceOperations = defineOperations({
  ListSources: {
    scope: 'rules:read',
    changes: false,
    summary: 'List sources',
    description:
      'Says for each connection to a platform whether it is listening, since when, and what to do if it is not.',
    request: requestObject({}),
    answer: z.strictObject({
      sources: z
        .array(
          z.strictObject({
            platform: platformSchema.meta({ description: 'What it listens to.' }),
            name: z.string().meta({ description: 'As the operator named it.' }),
            state: z
              .enum(sourceStates)
              .meta({ description: 'What it is doing; `what_to_do` says what that asks of the operator.' }),
            since: timestamp.meta({ description: 'Since when it is in this state.' }),
            heard_until: timestamp.nullable().meta({
              description: 'Until when it is known to have listened. Null: never.',
            }),
            what_to_do: z.string().meta({ description: 'For the operator of the service.' }),
            problem: z.string().optional().meta({ description: "The platform's own words." }),
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
            heard_until: '2026-11-14T22:46:59.000Z',
            what_to_do: 'Add credit to the upstream account. It is retried automatically.',
            problem: 'X answered 402: CreditsDepleted',
          },
        ],
      },
    },
  },
});
