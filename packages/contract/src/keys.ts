import { z } from 'zod';
import { timestamp } from './answer-fields.ts';
import { requestIssue, requestObject, requestTime, text } from './request-fields.ts';
import { scopes } from './scopes.ts';
import { quote } from './violations.ts';

const keyId = z.string().regex(/^key_[0-9A-Za-z]+$/);
const scopeSchema = z.enum(scopes);

/** Beyond this length zod gives up before it looks at the entries: a hostile list costs nothing. */
const SCOPES_SENT_MAX = 100;

const scopeList = z
  .array(scopeSchema)
  .max(SCOPES_SENT_MAX)
  .superRefine(
    (listed, context) => {
      if (listed.length === 0) context.addIssue(requestIssue('too_short', 'Must name at least one scope.'));
      for (const scope of scopes) {
        const second = listed.indexOf(scope, listed.indexOf(scope) + 1);
        if (second > 0)
          context.addIssue(requestIssue('duplicate', `${quote(scope)} is listed twice.`, [second]));
      }
    },
    { when: ({ value }) => Array.isArray(value) },
  )
  .meta({ minItems: 1, maxItems: scopes.length, uniqueItems: true });

export const createKeyRequest = requestObject({
  scopes: scopeList.optional().meta({
    description: 'What the new key may do: no more than the key that asks. Default: the same.',
  }),
  expires_at: requestTime
    .optional()
    .meta({ description: 'When the new key stops working, in the future. Default: never.' }),
});

const keyFields = {
  display: z.string().meta({ description: 'Enough of the key to recognise it.' }),
  scopes: z.array(scopeSchema),
  created_at: timestamp,
  expires_at: timestamp.nullable(),
};

export const createKeyAnswer = z.strictObject({
  key_id: keyId,
  key: z.string().nullable().meta({
    description:
      'The key. It is shown this once and stored nowhere: when the answer is repeated for an `Idempotency-Key`, it is null.',
  }),
  ...keyFields,
});

export const listKeysRequest = requestObject({});

export const keySchema = z
  .strictObject({
    id: keyId,
    ...keyFields,
    last_used_at: timestamp.nullable().meta({ description: 'Exact to about a minute.' }),
  })
  .meta({ description: 'A key of the account, without the key itself.' });

export const listKeysAnswer = z.strictObject({
  keys: z.array(keySchema).meta({ description: 'The keys that work, newest first.' }),
});

export const revokeKeyRequest = requestObject({
  key_id: text({ max: 100, description: 'Id of the key to revoke; your own is allowed.' }),
});

export const revokeKeyAnswer = z.strictObject({ key_id: keyId, revoked_at: timestamp });

export type Key = z.output<typeof keySchema>;
