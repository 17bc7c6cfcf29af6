import { z } from 'zod';
import { nextCursor, relevanceFilter, ruleId, timestamp } from './answer-fields.ts';
import { defineOperations } from './operation.ts';
import { platformSchema } from './platforms.ts';
import {
  longPageLimit,
  pageCursor,
  platformFilter,
  requestObject,
  rulesFilter,
  text,
} from './request-fields.ts';

const feedId = z
  .string()
  .regex(/^feed_[0-9A-Za-z]+$/)
  .meta({ description: 'Id of the feed.' });

const relevanceMeans =
  'Which matches are left out, as in ListMatches. A match is shown until it has a verdict.';
const urlMeans =
  'It is shown this once: it needs no key, so treat it as a secret. Without EARSHOT_PUBLIC_URL it is a path of this server. Null when the answer is repeated for an `Idempotency-Key`.';

const feedSchema = z
  .strictObject({
    id: feedId,
    name: z.string().meta({ description: 'Title of the feed, which no other feed of the account has.' }),
    rule_ids: z.array(ruleId).nullable().meta({
      description: 'Only matches of these rules; null: of every rule. A deleted rule has no matches.',
    }),
    platform: platformSchema
      .nullable()
      .meta({ description: 'Only matches on this platform; null: on every platform.' }),
    relevance: relevanceFilter.meta({ description: relevanceMeans }),
    query: z
      .string()
      .nullable()
      .meta({ description: 'Only items that contain all these words; null: all items.' }),
    created_at: timestamp.meta({ description: 'When it was created.' }),
    expires_at: timestamp.nullable().meta({
      description: 'When its URLs stop working, with the key that created it; null: never.',
    }),
    last_read_at: timestamp
      .nullable()
      .meta({ description: 'Exact to about 10 minutes; null if it was never read.' }),
  })
  .meta({ description: 'The newest matches, for feed readers.' });

const exampleId = 'feed_01kb2n0a4c7q5t8w3y6z1v0n2p';
const created_at = '2026-11-14T22:46:00.000Z';
const exampleFeed = {
  id: exampleId,
  name: 'Earthquakes',
  rule_ids: ['rule_01kb2m9x4c7q5t8w3y6z1v0n2p'],
  platform: null,
  relevance: 'not_irrelevant',
  query: null,
  created_at,
  expires_at: null,
  last_read_at: null,
} as const;

/**
 * Feeds for feed readers. Their URLs are credentials, so changing them takes the scope of keys, and a key that creates one must itself be
 * allowed to read matches. The list has no URLs.
 */
export const feedOperations = defineOperations('Feeds', {
  CreateFeed: {
    scope: 'keys:write',
    changes: true,
    summary: 'Create a feed',
    description:
      'Creates two secret URLs of the newest matches for feed readers, as Atom and as JSON Feed. The calling key also needs `matches:read`. The URLs expire with it.',
    request: requestObject({
      name: text({ max: 200, description: 'Title of the feed, which no other feed of the account has.' }),
      rule_ids: rulesFilter,
      platform: platformFilter,
      relevance: relevanceFilter.optional().meta({ description: `${relevanceMeans} \`all\` by default.` }),
      query: text({
        max: 200,
        description: 'Only items that contain all these words in text, title, author or URL.',
      }).optional(),
    }),
    answer: feedSchema.extend({
      feed_id: feedId,
      atom_url: z
        .string()
        .nullable()
        .meta({ description: `The URL of the Atom feed. ${urlMeans}` }),
      json_url: z.string().nullable().meta({ description: 'The same as JSON Feed.' }),
    }),
    errors: ['not_found', 'already_exists', 'aborted'],
    example: {
      request: {
        name: exampleFeed.name,
        rule_ids: [...exampleFeed.rule_ids],
        relevance: exampleFeed.relevance,
      },
      answer: {
        ...exampleFeed,
        feed_id: exampleId,
        atom_url: 'https://earshot.example.com/feeds/esf_….atom',
        json_url: 'https://earshot.example.com/feeds/esf_….json',
      },
    },
  },
  ListFeeds: {
    scope: 'matches:read',
    changes: false,
    summary: 'List feeds',
    description: 'Lists the feeds of the account, without their URLs.',
    request: requestObject({ limit: longPageLimit, cursor: pageCursor }),
    answer: z.strictObject({
      feeds: z.array(feedSchema).meta({ description: 'Newest first.' }),
      next_cursor: nextCursor,
    }),
    example: { request: {}, answer: { feeds: [exampleFeed], next_cursor: null } },
  },
  DeleteFeed: {
    scope: 'keys:write',
    changes: true,
    summary: 'Delete a feed',
    description: 'Revokes the URLs of the feed at once, on every node.',
    request: requestObject({ feed_id: text({ max: 100, description: 'Id of the feed.' }) }),
    answer: z.strictObject({
      feed_id: feedId,
      deleted_at: timestamp.meta({ description: 'When it was deleted.' }),
    }),
    errors: ['not_found', 'aborted'],
    example: {
      request: { feed_id: exampleId },
      answer: { feed_id: exampleId, deleted_at: '2026-11-15T08:00:00.000Z' },
    },
  },
});
