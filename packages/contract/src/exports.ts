import { z } from 'zod';
import { matchId, relevanceFilter, ruleId, timestamp } from './answer-fields.ts';
import { defineOperations } from './operation.ts';
import { platformSchema } from './platforms.ts';
import {
  alsoWhenFieldsFail,
  fromBeforeTo,
  integer,
  platformFilter,
  requestObject,
  requestTime,
  ruleFilter,
  text,
} from './request-fields.ts';

/** The content type of each format. */
export const exportTypes = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
} as const;
export type ExportFormat = keyof typeof exportTypes;
const exportFormats = ['ndjson', 'csv', 'parquet'] as const satisfies readonly ExportFormat[];

/** A Parquet file has at most this many matches, because its index grows with it. */
export const parquetMatchesMax = 1_000_000;

const textOrNull = (description: string) => z.string().nullable().meta({ description });

/** One row. Its columns are the same in every format, and in this order. */
export const exportedMatchSchema = z
  .strictObject({
    id: matchId,
    created_at: timestamp.meta({ description: 'When the match was stored.' }),
    rule_id: ruleId,
    rule_version: z.int().min(1).meta({ description: 'Version of the rule that matched.' }),
    rule_name: z.string().meta({ description: 'Name of the rule now.' }),
    platform: platformSchema.meta({ description: 'Where the item is from.' }),
    platform_post_id: z.string().meta({ description: 'Id of the item, as in a match.' }),
    via: z.enum(['stream', 'search']).meta({ description: 'How the item was found, as in a match.' }),
    url: textOrNull('Address of the post or page.'),
    title: textOrNull('Title of the page; null for a post.'),
    text: textOrNull('The whole text of the post, or what was added to the page.'),
    author_id: textOrNull('Id of the author on the platform.'),
    author_name: textOrNull('Name of the author, for people.'),
    author_handle: textOrNull('Name of the author on the platform, without @.'),
    published_at: timestamp.nullable().meta({ description: 'When it was published, as the platform says.' }),
    language: textOrNull('Language code, as the platform delivers it.'),
    verdict: textOrNull('Whether the item is relevant, as in a match; null without label and verdict.'),
    verdict_by: textOrNull('`label` or `judge`.'),
    muted_by: textOrNull('Id of the mute that hides the match.'),
    raw: z.string().meta({ description: 'The item as the platform delivered it: JSON text.' }),
  })
  .meta({ description: 'One row of the file.' });

export type ExportedMatch = z.output<typeof exportedMatchSchema>;

const exampleRow = {
  id: 'mat_0000000002rs',
  created_at: '2026-11-14T22:51:09.120Z',
  rule_id: 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p',
  rule_version: 1,
  rule_name: 'Rust releases',
  platform: 'x',
  platform_post_id: '1989472511223344556',
  via: 'stream',
  url: 'https://x.com/ferris/status/1989472511223344556',
  title: null,
  text: 'Rust 2027 release day! Nothing broke.',
  author_id: '2244994945',
  author_name: 'Ferris',
  author_handle: 'ferris',
  published_at: '2026-11-14T22:51:08.000Z',
  language: 'en',
  verdict: null,
  verdict_by: null,
  muted_by: null,
  raw: '{"data":{"id":"1989472511223344556","text":"Rust 2027 release day! Nothing broke."}}',
} as const;

export const exportOperations = defineOperations('Matches', {
  ExportMatches: {
    scope: 'matches:read',
    changes: false,
    file: Object.values(exportTypes),
    summary: 'Export matches as a file',
    description:
      'Streams the stored matches as NDJSON, CSV or Parquet, oldest first. The file ends with the newest match at the time of the request, whose id is in the header `x-export-through`. If a download of NDJSON or CSV is cut, repeat the request with `cursor`, the id of the last complete row, and `through`: the answer is exactly the rest. If the file ends before that match, because of `limit`, `x-export-cursor` is the cursor of the next file. Removed matches are not exported.',
    request: requestObject({
      format: z.enum(exportFormats).meta({ description: 'Format of the file.' }),
      rule_id: ruleFilter.optional(),
      platform: platformFilter,
      from: requestTime.optional().meta({ description: 'Only matches created at or after this time.' }),
      to: requestTime.optional().meta({ description: 'Only matches created before this time.' }),
      relevance: relevanceFilter.optional(),
      hidden: z.enum(['exclude', 'include', 'only']).optional().meta({
        description:
          'Matches that a mute or `relevance` hides: leave them out (the default), export them too, or export only them.',
      }),
      cursor: text({
        max: 100,
        description: 'Continues behind this match: the id of the last complete row, or `x-export-cursor`.',
      }).optional(),
      through: text({
        max: 100,
        description: 'The last match to export: `x-export-through` of the first answer.',
      }).optional(),
      limit: integer(1, parquetMatchesMax)
        .optional()
        .meta({
          description: `The file ends after this many stored matches. For Parquet, ${parquetMatchesMax.toLocaleString('en')} by default.`,
        }),
    }).superRefine((request, context) => {
      for (const issue of fromBeforeTo(request)) context.addIssue(issue);
    }, alsoWhenFieldsFail),
    answer: exportedMatchSchema,
    errors: ['not_found', 'out_of_range'],
    example: {
      request: { format: 'ndjson', rule_id: exampleRow.rule_id, from: '2026-11-14T00:00:00Z' },
      answer: exampleRow,
    },
  },
});
