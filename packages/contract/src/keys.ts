import { z } from 'zod';
import { nextCursor, timestamp } from './answer-fields.ts';
import { budget, budgetTerms } from './budgets.ts';
import { defineOperations } from './operation.ts';
import { distinct, longPageLimit, pageCursor, requestObject, requestTime, text } from './request-fields.ts';
import { scopes } from './scopes.ts';

const keyId = z
  .string()
  .regex(/^key_[0-9A-Za-z]+$/)
  .meta({ description: 'Id of the key.' });

const keyFields = {
  name: z.string().nullable().meta({ description: 'As chosen when it was created, for people.' }),
  display: z.string().meta({ description: 'Enough of the key to recognise it.' }),
  scopes: z.array(z.enum(scopes)).meta({ description: 'What the key may do.' }),
  created_at: timestamp.meta({ description: 'When it was created.' }),
  expires_at: timestamp.nullable().meta({ description: 'When it stops working; null: never.' }),
  budget: budgetTerms.nullable().meta({
    description: 'What all rules created with the key may spend together; null for no limit.',
  }),
};

export const keySchema = z
  .strictObject({
    id: keyId,
    ...keyFields,
    last_used_at: timestamp.nullable().meta({ description: 'Exact to about a minute.' }),
    client: z
      .strictObject({
        id: z.string().meta({ description: 'Its client id; for many programs a URL.' }),
        name: z.string().meta({ description: 'What it calls itself.' }),
      })
      .nullable()
      .meta({
        description:
          'The program that was authorized by OAuth to use the key; null for a key that a person or program holds itself.',
      }),
  })
  .meta({ description: 'A key of the account, without the key itself.' });

export type Key = z.output<typeof keySchema>;

const exampleId = 'key_01kb2n0a4c7q5t8w3y6z1v0n2p';
const exampleFields = {
  name: 'Research agent',
  display: 'esk_4f9K…x2Lq',
  scopes: ['rules:read', 'matches:read'],
  created_at: '2026-11-14T22:46:00.000Z',
  expires_at: '2027-11-14T00:00:00.000Z',
  budget: { period: 'day', usd: 10, on_reached: 'pause' },
} as const;

const exampleKey = { id: exampleId, ...exampleFields, last_used_at: null, client: null } as const;

export const keyOperations = defineOperations('Keys', {
  CreateKey: {
    scope: 'keys:write',
    changes: true,
    summary: 'Create a key',
    description: 'Creates another key of the account, which cannot do more than the calling key.',
    request: requestObject({
      name: text({ max: 100, description: 'Name of the key, for people: who or what uses it.' }).optional(),
      scopes: distinct(scopes, 'scope').optional().meta({
        description: 'What the new key may do: no more than the calling key. Default: the same.',
      }),
      expires_at: requestTime.optional().meta({
        description:
          'When the new key expires: in the future, and no later than the calling key. Default: the same time.',
      }),
      budget: budget.optional().meta({
        description:
          'What all rules created with the new key may spend together. Default: the budget of the calling key, counted separately.',
      }),
    }),
    answer: z.strictObject({
      ...keySchema.shape,
      key_id: keyId,
      key: z.string().nullable().meta({
        description:
          'The key. It is shown only once and is not stored: when the answer is repeated for an `Idempotency-Key`, it is null.',
      }),
    }),
    errors: ['aborted'],
    example: {
      request: {
        name: exampleFields.name,
        scopes: exampleFields.scopes,
        expires_at: exampleFields.expires_at,
        budget: exampleFields.budget,
      },
      answer: { ...exampleKey, key_id: exampleId, key: 'esk_…' },
    },
  },
  WhoAmI: {
    scope: null,
    changes: false,
    summary: 'Get the calling key',
    description: 'Returns the id and scopes of the key that sends this request. Any valid key may call it.',
    request: requestObject({}),
    answer: z.strictObject({ key_id: keyId, scopes: keyFields.scopes }),
    example: { request: {}, answer: { key_id: exampleId, scopes: exampleFields.scopes } },
  },
  ListKeys: {
    scope: 'keys:write',
    changes: false,
    summary: 'List keys',
    description: 'Lists the valid keys of the account, without the keys themselves.',
    request: requestObject({ limit: longPageLimit, cursor: pageCursor }),
    answer: z.strictObject({
      keys: z.array(keySchema).meta({ description: 'Valid keys, newest first.' }),
      next_cursor: nextCursor,
    }),
    example: {
      request: {},
      answer: { keys: [exampleKey], next_cursor: null },
    },
  },
  RevokeKey: {
    scope: 'keys:write',
    changes: true,
    summary: 'Revoke a key',
    description:
      'Revokes a key of the account: within 5 seconds no node accepts it any more, and its open streams end. Keys that were created with it keep working: `ListAudit` names them.',
    request: requestObject({
      key_id: text({ max: 100, description: 'Id of the key to revoke; your own is allowed.' }),
    }),
    answer: z.strictObject({
      key_id: keyId,
      revoked_at: timestamp.meta({ description: 'When it was revoked.' }),
    }),
    errors: ['not_found', 'aborted'],
    example: {
      request: { key_id: exampleId },
      answer: { key_id: exampleId, revoked_at: '2026-11-15T08:00:00.000Z' },
    },
  },
});
