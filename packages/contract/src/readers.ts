import { z } from 'zod';
import { ruleId, timestamp } from './answer-fields.ts';
import { coverageSchema, matchSchema } from './matches.ts';
import { platformSchema } from './platforms.ts';
import { integer, requestObject, text } from './request-fields.ts';

const cursor = z.string().meta({ description: 'Opaque; it belongs to the account and to the filter.' });

export const streamMatchesRequest = requestObject({
  rule_id: text({ max: 100, description: 'Only matches of this rule.' }).optional(),
  platform: platformSchema.optional().meta({ description: 'Only matches on this platform.' }),
  cursor: text({
    max: 1_024,
    description:
      'Where to begin: the `id` of an event, or `next_cursor` of a list with the same filter and `order: "oldest"`. Without it the stream begins now. The header `Last-Event-ID`, which clients send when they reconnect, goes before.',
  }).optional(),
});

/** One event of the stream. */
export const streamMatchesAnswer = z
  .strictObject({
    id: cursor.meta({ description: 'Continues the stream behind this event.' }),
    event: z.enum(['open', 'match']).meta({ description: '`open` comes first and only tells the `id`.' }),
    data: matchSchema.meta({ description: 'The match. Of `open`: `{}`.' }),
  })
  .meta({ description: 'One event of the stream.' });

const readerName = text({ max: 100, description: 'Name of the reader, chosen by you.' });

export const readMatchesRequest = requestObject({
  reader: readerName,
  rule_id: text({ max: 100, description: 'At the first use: only matches of this rule.' }).optional(),
  platform: platformSchema
    .optional()
    .meta({ description: 'At the first use: only matches on this platform.' }),
  start: z.enum(['oldest', 'now']).default('oldest').meta({
    description: 'At the first use: from the oldest match that is kept, or only those from now on.',
  }),
  limit: integer(1, 100).default(50).meta({ description: 'Number of matches to return.' }),
  wait_seconds: integer(0, 30).optional().meta({ description: 'Holds the request until there is a match.' }),
});

export const readMatchesAnswer = z.strictObject({
  matches: z.array(matchSchema).meta({ description: 'Not acknowledged yet, oldest first.' }),
  cursor: cursor.nullable().meta({
    description: 'Acknowledges these matches, with `AckMatches`. Null when there are none.',
  }),
  coverage: coverageSchema
    .nullable()
    .meta({ description: 'Null unless the reader has a rule or a platform.' }),
});

export const ackMatchesRequest = requestObject({
  reader: readerName,
  cursor: text({ max: 1_024, description: '`cursor` of an answer of `ReadMatches`.' }),
  rewind: z.boolean().default(false).meta({
    description:
      'Also goes back, to read again what was acknowledged. Otherwise an older cursor changes nothing.',
  }),
});

export const ackMatchesAnswer = z.strictObject({
  reader: z.string(),
  moved: z.boolean().meta({ description: 'False when the reader was there already, or further.' }),
});

export const readerSchema = z
  .strictObject({
    name: z.string(),
    rule_id: ruleId.nullable(),
    platform: platformSchema.nullable(),
    created_at: timestamp,
    acknowledged_at: timestamp.nullable().meta({ description: 'When `AckMatches` last moved it.' }),
  })
  .meta({ description: 'A named reader: the server keeps how far it is.' });

export const listReadersRequest = requestObject({});

export const listReadersAnswer = z.strictObject({
  readers: z.array(readerSchema).meta({ description: 'All readers of the account, by name.' }),
});

export const deleteReaderRequest = requestObject({ reader: readerName });

export const deleteReaderAnswer = z.strictObject({ reader: z.string(), deleted_at: timestamp });

export type Reader = z.output<typeof readerSchema>;
