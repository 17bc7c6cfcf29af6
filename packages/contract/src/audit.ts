import { z } from 'zod';
import { nextCursor, timestamp } from './answer-fields.ts';
import { defineOperations } from './operation.ts';
import { pageCursor, pageLimit, requestObject } from './request-fields.ts';

const stateSchema = z.record(z.string(), z.unknown()).nullable();

export const auditEntrySchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^aud_[0-9A-Za-z]+$/)
      .meta({ description: 'Id of the entry.' }),
    created_at: timestamp.meta({ description: 'When it was changed.' }),
    actor: z.string().meta({
      description:
        'The id of the key, `operator` for the operator of the installation, or `earshot` for the service itself.',
    }),
    operation: z.string().meta({ description: 'The operation, such as `CreateRule`.' }),
    target_id: z.string().meta({ description: 'Id of the rule, key or webhook that was changed.' }),
    before: stateSchema.meta({ description: 'The old value; null if it was created.' }),
    after: stateSchema.meta({ description: 'The new value; null if it was deleted.' }),
    request_id: z
      .string()
      .nullable()
      .meta({ description: 'The `x-request-id` of the change; null without a request.' }),
  })
  .meta({ description: 'One change of a rule, a key or a webhook.' });

export type AuditEntry = z.output<typeof auditEntrySchema>;

export const auditOperations = defineOperations('Audit', {
  ListAudit: {
    scope: 'audit:read',
    changes: false,
    summary: 'List changes',
    description:
      'Lists the changes of rules, keys, webhooks, digests and readers of the account. Newest first.',
    request: requestObject({ limit: pageLimit, cursor: pageCursor }),
    answer: z.strictObject({
      entries: z.array(auditEntrySchema).meta({ description: 'Newest first.' }),
      next_cursor: nextCursor,
    }),
    example: {
      request: { limit: 50 },
      answer: {
        entries: [
          {
            id: 'aud_01kb2n0a4c7q5t8w3y6z1v0n2p',
            created_at: '2026-11-14T22:46:00.000Z',
            actor: 'key_01kb2m0a4c7q5t8w3y6z1v0n2p',
            operation: 'CreateRule',
            target_id: 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p',
            before: null,
            after: { name: 'Rust release chatter', state: 'active' },
            request_id: 'req_01kb2mp8r4t7v1x5z9b3c6d0fg',
          },
        ],
        next_cursor: null,
      },
    },
  },
});
