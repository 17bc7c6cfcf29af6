import { z } from 'zod';
import { exampleCursor, nextCursor, relevanceFilter, ruleId, timestamp } from './answer-fields.ts';
import {
  coverageSchema,
  hiddenMatches,
  matchOperations,
  matchSchema,
  removalSchema,
  removedMatches,
} from './matches.ts';
import { noticeSchema } from './notices.ts';
import { defineOperations } from './operation.ts';
import { platformSchema } from './platforms.ts';
import {
  alsoWhenFieldsFail,
  integer,
  longPageLimit,
  matchLimit,
  pageCursor,
  platformFilter,
  requestIssue,
  requestObject,
  ruleFilter,
  text,
} from './request-fields.ts';
import { groupBy } from './stories.ts';

const cursor = z.string().meta({ description: 'Opaque; it belongs to the account and to the filter.' });

const readerName = text({ max: 100, description: 'Name of the reader, chosen by you.' });

const readable = ['matches', 'notices'] as const;
const ofNotices = z.looseObject({ of: z.literal('notices') });
const ofMatchesOnly = ['rule_id', 'platform', 'relevance', 'group'].map(
  (field) => [field, z.looseObject({ [field]: z.string() })] as const,
);

export const readerSchema = z
  .strictObject({
    name: z.string().meta({ description: 'As you chose it.' }),
    of: z.enum(readable).meta({ description: 'What it reads.' }),
    rule_id: ruleId.nullable().meta({ description: 'Only matches of this rule; null: of every rule.' }),
    platform: platformSchema
      .nullable()
      .meta({ description: 'Only matches on this platform; null: on every platform.' }),
    relevance: relevanceFilter.meta({ description: 'Which matches it leaves out, as in ListMatches.' }),
    group: groupBy.nullable().meta({ description: 'Null: it reads every match of a story.' }),
    created_at: timestamp.meta({ description: 'When it was first used.' }),
    acknowledged_at: timestamp.nullable().meta({ description: 'When `AckMatches` last moved it.' }),
  })
  .meta({ description: 'A named reader: the server stores its position.' });

export type Reader = z.output<typeof readerSchema>;

const { coverage: exampleCoverage, matches } = matchOperations.ListMatches.example.answer;
const [exampleMatch] = matches;
const exampleRuleId = exampleMatch.rule_id;
const reader = 'morning-report';

/** The ways to follow matches. */
export const readerOperations = defineOperations('Matches', {
  StreamMatches: {
    method: 'GET',
    path: '/matches/stream',
    scope: 'matches:read',
    changes: false,
    stream: true,
    summary: 'Stream matches',
    description:
      'Server-sent events: every match as it arrives, for as long as the connection lasts, and a comment every 15 seconds. After an interruption send the last `id` as `Last-Event-ID`, as clients for server-sent events do, and nothing is missed.',
    request: requestObject({
      rule_id: ruleFilter.optional(),
      platform: platformFilter,
      relevance: relevanceFilter.optional(),
      group: groupBy.optional(),
      cursor: text({
        max: 1_024,
        description:
          'Where to begin: the `id` of an event, or `next_cursor` of a list with the same filter and `order: "oldest"`. Without it the stream begins now. The header `Last-Event-ID`, which clients send when they reconnect, goes before.',
      }).optional(),
    }),
    answer: z
      .strictObject({
        id: cursor.meta({ description: 'Continues the stream behind this event.' }),
        event: z.enum(['open', 'match', 'removed', 'hidden']).meta({
          description:
            '`open` is the first event and has only an `id`. `removed`: a match was removed. `hidden`: matches were left out. Ignore names that you do not know.',
        }),
        data: z.union([matchSchema, removalSchema, hiddenMatches.unwrap()]).meta({
          description: 'The match, the removal of one, or how many were left out. Of `open`: `{}`.',
        }),
      })
      .meta({ description: 'One event of the stream.' }),
    errors: ['not_found', 'out_of_range'],
    example: {
      request: { rule_id: exampleRuleId },
      answer: { id: exampleCursor, event: 'match', data: exampleMatch },
    },
  },
  ReadMatches: {
    scope: 'matches:read',
    changes: false,
    summary: 'Read matches with a named reader',
    description:
      'Returns what this reader has not acknowledged yet, and returns it again until `AckMatches` moves it. A reader is made at its first use; its filter is then part of it and need not be sent again.',
    request: requestObject({
      reader: readerName,
      of: z.enum(readable).default('matches').meta({
        description: 'What it reads, sent each time. A reader of notices reads all of them.',
      }),
      rule_id: text({ max: 100, description: 'At the first use: only matches of this rule.' }).optional(),
      platform: platformSchema
        .optional()
        .meta({ description: 'At the first use: only matches on this platform.' }),
      relevance: relevanceFilter
        .optional()
        .meta({ description: 'At the first use: what to leave out, as in ListMatches. Default: `all`.' }),
      group: groupBy.optional().meta({ description: 'At the first use: lists stories, as in ListMatches.' }),
      start: z.enum(['oldest', 'now']).default('now').meta({
        description: 'At the first use: start with new matches, or with the oldest stored match.',
      }),
      limit: matchLimit,
      wait_seconds: integer(0, 30).optional().meta({ description: 'Waits up to this long for a match.' }),
    }).superRefine((request: unknown, context) => {
      if (!ofNotices.safeParse(request).success) return;
      for (const [field, withIt] of ofMatchesOnly)
        if (withIt.safeParse(request).success)
          context.addIssue(requestIssue('invalid_value', 'Works only for matches.', [field]));
    }, alsoWhenFieldsFail),
    answer: z.strictObject({
      matches: z.array(matchSchema).meta({ description: 'Not acknowledged yet, oldest first.' }),
      removed: removedMatches,
      hidden: hiddenMatches,
      notices: z
        .array(noticeSchema)
        .optional()
        .meta({ description: 'Only with `of: "notices"`; `matches` is empty then.' }),
      cursor: cursor.nullable().meta({
        description: 'Acknowledges these matches and removals, with `AckMatches`. Null when there are none.',
      }),
      coverage: coverageSchema
        .nullable()
        .meta({ description: 'Null unless the reader has a rule or a platform.' }),
    }),
    errors: ['not_found', 'already_exists', 'failed_precondition', 'out_of_range'],
    example: {
      request: { reader, rule_id: exampleRuleId, limit: 20, wait_seconds: 20 },
      answer: { matches: [exampleMatch], cursor: exampleCursor, coverage: exampleCoverage },
    },
  },
  AckMatches: {
    scope: 'matches:read',
    changes: false,
    summary: 'Acknowledge matches',
    description:
      'Moves a named reader past the matches that came with the cursor. Repeating the call changes nothing.',
    request: requestObject({
      reader: readerName,
      cursor: text({ max: 1_024, description: '`cursor` of an answer of `ReadMatches`.' }),
      rewind: z.boolean().default(false).meta({
        description:
          'Allow moving back, to read acknowledged matches again; needs the scope `readers:write`. Otherwise an older cursor changes nothing.',
      }),
    }),
    answer: z.strictObject({
      reader: z.string().meta({ description: 'Name of the reader.' }),
      moved: z.boolean().meta({ description: 'False if the reader was already there, or further.' }),
    }),
    errors: ['not_found', 'out_of_range'],
    example: { request: { reader, cursor: exampleCursor }, answer: { reader, moved: true } },
  },
  ListReaders: {
    scope: 'matches:read',
    changes: false,
    summary: 'List named readers',
    description: 'Lists the named readers of the account.',
    request: requestObject({ limit: longPageLimit, cursor: pageCursor }),
    answer: z.strictObject({
      readers: z.array(readerSchema).meta({ description: 'By name.' }),
      next_cursor: nextCursor,
    }),
    example: {
      request: {},
      answer: {
        readers: [
          {
            name: reader,
            of: 'matches',
            rule_id: exampleRuleId,
            platform: null,
            relevance: 'all',
            group: null,
            created_at: '2026-11-14T22:46:00.000Z',
            acknowledged_at: '2026-11-15T08:00:00.000Z',
          },
        ],
        next_cursor: null,
      },
    },
  },
  DeleteReader: {
    scope: 'readers:write',
    changes: true,
    summary: 'Delete a named reader',
    description: 'Deletes the reader and its position. Matches are not affected.',
    request: requestObject({ reader: readerName }),
    answer: z.strictObject({
      reader: z.string().meta({ description: 'Name of the reader.' }),
      deleted_at: timestamp.meta({ description: 'When it was deleted.' }),
    }),
    errors: ['not_found', 'aborted'],
    example: { request: { reader }, answer: { reader, deleted_at: '2026-11-15T08:00:00.000Z' } },
  },
});
