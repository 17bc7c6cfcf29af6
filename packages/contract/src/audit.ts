import { z } from 'zod';
import { timestamp } from './answer-fields.ts';
import { integer, requestObject, text } from './request-fields.ts';

export const listAuditRequest = requestObject({
  limit: integer(1, 100).default(50).meta({ description: 'Entries per page.' }),
  cursor: text({ max: 1_024, description: '`next_cursor` of the page before.' }).optional(),
});

const stateSchema = z.record(z.string(), z.unknown()).nullable();

export const auditEntrySchema = z
  .strictObject({
    id: z.string().regex(/^aud_[0-9A-Za-z]+$/),
    created_at: timestamp,
    actor: z.string().meta({
      description:
        'Who: the id of the key, `operator` for whoever runs the installation, or `earshot` for the service itself.',
    }),
    operation: z.string().meta({ description: 'What, such as `CreateRule`.' }),
    target_id: z.string().meta({ description: 'Id of the rule, key or webhook that was changed.' }),
    before: stateSchema.meta({ description: 'What it was like; null for something new.' }),
    after: stateSchema.meta({ description: 'What it is like; null for something that is gone.' }),
    request_id: z
      .string()
      .nullable()
      .meta({ description: 'The `x-request-id` of the change; null without a request.' }),
  })
  .meta({ description: 'One change of a rule, a key or a webhook.' });

export const listAuditAnswer = z.strictObject({
  entries: z.array(auditEntrySchema).meta({ description: 'Newest first.' }),
  next_cursor: z.string().nullable().meta({ description: 'Continues the list; null when it is complete.' }),
});

export type AuditEntry = z.output<typeof auditEntrySchema>;
