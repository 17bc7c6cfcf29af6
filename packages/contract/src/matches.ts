import { z } from 'zod';
import { exampleCursor, matchId, relevanceFilter, ruleId, spanSchema, timestamp } from './answer-fields.ts';
import { defineOperations } from './operation.ts';
import { onEachPlatform, platformSchema } from './platforms.ts';
import {
  alsoWhenFieldsFail,
  fromBeforeTo,
  integer,
  matchLimit,
  platformFilter,
  type RequestIssue,
  requestIssue,
  requestObject,
  requestTime,
  ruleFilter,
  text,
  waitingForNewest,
} from './request-fields.ts';
import { groupBy, storyContradictions, storyFilter, storySchema } from './stories.ts';

const payloadSchema = z
  .strictObject({
    url: z.string().nullable().meta({ description: 'Address of the post or page.' }),
    title: z.string().nullable().meta({ description: 'Title of the page; null for a post.' }),
    text: z
      .string()
      .nullable()
      .meta({ description: 'The whole text of the post, or what was added to the page.' }),
    author: z
      .strictObject({
        id: z.string().meta({ description: 'Id on the platform.' }),
        name: z.string().nullable().meta({ description: 'Name for people.' }),
        handle: z.string().nullable().meta({ description: 'Name on the platform, without @.' }),
      })
      .nullable()
      .meta({ description: 'Null when the platform names none.' }),
    published_at: timestamp.nullable().meta({ description: 'When it was published, as the platform says.' }),
    language: z.string().nullable().meta({ description: 'Language code, as the platform delivers it.' }),
    edit_of: z.string().optional().meta({
      description:
        'For an edited post: the `platform_post_id` of its first version. Each version is a separate item.',
    }),
    raw: z.record(z.string(), z.unknown()).meta({ description: 'The item as the platform delivered it.' }),
  })
  .meta({ description: 'The matching item, in the same form for every platform.' });

const whySchema = z
  .strictObject({
    verdict: z.enum(['match', 'unknown']).meta({
      description:
        "Our own reading of the rule. The platform's verdict counts; `unknown`: the item alone does not decide it.",
    }),
    confidence: z.enum(['exact', 'approximate']).meta({
      description:
        '`approximate`: part of it is undecided, or read in a way that may differ from the platform.',
    }),
    evidence: z
      .array(
        z.strictObject({
          rule_span: spanSchema,
          field: z.string().meta({ description: 'The operator or field of the rule, such as `keyword`.' }),
          path: z.string().meta({ description: 'Where in `payload.raw`, such as `data.text`.' }),
          text_span: spanSchema.nullable().meta({ description: 'Null when the whole value is meant.' }),
          text: z.string().meta({ description: 'What is there.' }),
        }),
      )
      .meta({
        description:
          'The smallest set of places that is enough, with what is undecided taken as satisfied. `rule_span` refers to `translated_value`.',
      }),
    undecided: z
      .array(
        z.strictObject({
          rule_span: spanSchema,
          field: z.string().meta({ description: 'The operator or field of the rule.' }),
          why: z.string().meta({ description: 'Why the item does not decide it.' }),
        }),
      )
      .meta({ description: 'Clauses of the rule that the item does not decide, each with the reason.' }),
  })
  .meta({ description: 'Why the item matched.' });

const relevanceSchema = z
  .strictObject({
    verdict: z.enum(['relevant', 'not_relevant', 'unsure', 'unjudged']).meta({
      description:
        'Whether the item is relevant to the intent of the rule. `unjudged`: the judge gave no verdict; no filter hides it.',
    }),
    by: z.enum(['label', 'judge']).meta({ description: 'A label goes before the verdict of the judge.' }),
    reason: z.string().nullable().meta({
      description: 'Note of the label, or what the judge says: untrusted, since it may repeat the item.',
    }),
    intent_version: z
      .int()
      .nullable()
      .meta({ description: 'Grows when the intent or the criteria change; null for a label.' }),
  })
  .meta({ description: 'Whether the item is relevant; absent while it is neither labelled nor judged.' });

export const matchSchema = z
  .strictObject({
    id: matchId,
    rule_id: ruleId,
    rule_version: z.int().min(1).meta({ description: 'Version of the rule that matched.' }),
    created_at: timestamp.meta({ description: 'When the match was stored.' }),
    platform: platformSchema.meta({ description: 'Where the item is from.' }),
    platform_post_id: z.string().meta({
      description: `Per platform: ${Object.values(onEachPlatform((platform, { itemId }) => `${itemId} on \`${platform}\``)).join('; ')}.`,
    }),
    via: z.enum(['stream', 'search']).meta({
      description: '`search`: it was missed by the stream and found when the gap was repaired.',
    }),
    payload: payloadSchema,
    why: whySchema,
    relevance: relevanceSchema.optional(),
    muted_by: z
      .string()
      .optional()
      .meta({ description: 'Id of the mute that hides the match; absent if none does.' }),
    story: storySchema.optional(),
  })
  .meta({ description: 'One item that matched one rule.' });

export const hiddenMatches = z
  .strictObject({
    muted: z.int().min(0).meta({ description: 'Matches that a mute hides.' }),
    not_relevant: z.int().min(0).meta({ description: 'Matches that `relevance` left out.' }),
    in_story: z.int().min(0).optional().meta({
      description: 'Matches of a story that another match stands for; only with `group`.',
    }),
  })
  .optional()
  .meta({
    description:
      'How many matches a mute, `relevance` or `group` hides between those of this answer; absent when there are none. They are left out, unless a request with `hidden` lists them.',
  });

export type HiddenMatches = NonNullable<z.output<typeof hiddenMatches>>;

const removalReasons = ['forgotten', 'deleted', 'protected', 'suspended', 'withheld'] as const;

export const removalSchema = z
  .strictObject({
    type: z.literal('removed').meta({ description: 'Distinguishes a removal from a match.' }),
    match_id: matchId.meta({ description: 'Delete what you keep of this match.' }),
    reason: z.enum(removalReasons).meta({
      description:
        '`forgotten`: the operator of the service removed it. All others: what became of the item on its platform.',
    }),
    removed_at: timestamp.meta({ description: 'When it was removed.' }),
  })
  .meta({
    description: 'A match whose item was removed. It has its own position in the order of matches.',
  });

export const removedMatches = z.array(removalSchema).optional().meta({
  description:
    'Matches that were removed, oldest first; absent when there are none. They may be older than the matches beside them, or unknown to you.',
});

const gapSchema = z.strictObject({
  platform: platformSchema.meta({ description: 'The platform that Earshot did not receive from.' }),
  from: timestamp.meta({ description: 'When it began.' }),
  to: timestamp.nullable().meta({ description: 'Null while the gap lasts.' }),
  reason: z.string().meta({ description: 'Why Earshot received nothing.' }),
  repaired: z.boolean().meta({ description: 'Whether what was missed has been fetched since.' }),
});

export const coverageSchema = z
  .strictObject({
    complete_through: timestamp.nullable().meta({
      description:
        'Once you have read to the end of the list, you have everything up to this time, apart from the gaps. Null: nothing was watched yet.',
    }),
    gaps: z.array(gapSchema).meta({ description: 'Periods in which Earshot received nothing.' }),
  })
  .meta({ description: 'Whether the absence of matches means that nothing happened.' });

export type Match = z.output<typeof matchSchema>;
export type Removal = z.output<typeof removalSchema>;
export type Why = z.output<typeof whySchema>;
export type MatchPayload = z.output<typeof payloadSchema>;
export type Coverage = z.output<typeof coverageSchema>;

const searches = z.looseObject({ order: z.literal('oldest'), query: z.string() });

function searchingOldest(request: unknown): RequestIssue[] {
  return searches.safeParse(request).success
    ? [requestIssue('invalid_value', 'Works only with "order": "newest".', ['query'])]
    : [];
}

/** Takes anything: it also runs on a request whose fields are missing or wrong. */
function contradictions(request: unknown): RequestIssue[] {
  return [
    ...waitingForNewest(request),
    ...fromBeforeTo(request),
    ...searchingOldest(request),
    ...storyContradictions(request),
  ];
}

const stepsMax = 500;
/** As long as everything may be kept at the most. */
const stepSecondsMax = 3_650 * 86_400;
const seriesMax = 100;

const withSteps = z.looseObject({ from: z.string(), to: z.string(), step: z.number() });

/** Takes anything, as `contradictions` does. */
function tooManySteps(request: unknown): RequestIssue[] {
  const asked = withSteps.safeParse(request);
  if (!asked.success) return [];
  const { from, to, step } = asked.data;
  const seconds = (Date.parse(to) - Date.parse(from)) / 1_000;
  if (!(seconds / step > stepsMax)) return [];
  const least = Math.ceil(seconds / stepsMax);
  const message = `Would make more than ${stepsMax} steps: send ${least} or more, or a shorter time.`;
  return [requestIssue('invalid_value', message, ['step'])];
}

const exampleMatch = {
  id: 'mat_0000000002rs',
  rule_id: 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p',
  rule_version: 1,
  created_at: '2026-11-14T22:51:09.120Z',
  platform: 'x',
  platform_post_id: '1989472511223344556',
  via: 'stream',
  payload: {
    url: 'https://x.com/ferris/status/1989472511223344556',
    title: null,
    text: 'Rust 2027 release day! Nothing broke.',
    author: { id: '2244994945', name: 'Ferris', handle: 'ferris' },
    published_at: '2026-11-14T22:51:08.000Z',
    language: 'en',
    raw: { data: { id: '1989472511223344556', text: 'Rust 2027 release day! Nothing broke.' } },
  },
  why: {
    verdict: 'match',
    confidence: 'exact',
    evidence: [
      {
        rule_span: { start: 0, end: 11 },
        field: 'phrase',
        path: 'data.text',
        text_span: { start: 0, end: 9 },
        text: 'Rust 2027',
      },
    ],
    undecided: [],
  },
} as const;

export const matchOperations = defineOperations('Matches', {
  ListMatches: {
    path: '/matches',
    scope: 'matches:read',
    changes: false,
    summary: 'List matches',
    description:
      'Lists stored matches. To follow new matches, send `order: "oldest"`, keep `next_cursor` and send it with the next request. The answers then also list removals.',
    request: requestObject({
      rule_id: ruleFilter.optional(),
      platform: platformFilter,
      limit: matchLimit,
      cursor: text({ max: 1_024, description: '`next_cursor` of the previous answer.' }).optional(),
      order: z.enum(['newest', 'oldest']).default('newest').meta({ description: 'Which end to start from.' }),
      query: text({
        max: 200,
        description:
          'Only matches whose text, title, address or author contains all of these words, in upper or lower case. One request searches up to 5,000 matches, so a page may be empty although `next_cursor` continues. Only with `order: "newest"`.',
      }).optional(),
      from: requestTime.optional().meta({ description: 'Only matches created at or after this time.' }),
      to: requestTime.optional().meta({ description: 'Only matches created before this time.' }),
      relevance: relevanceFilter.optional(),
      group: groupBy.optional(),
      story_id: storyFilter.optional(),
      hidden: z.enum(['exclude', 'include', 'only']).optional().meta({
        description:
          'Matches that a mute or `relevance` hides: leave them out and count them (the default), list them too, or list only them.',
      }),
      wait_seconds: integer(0, 30).optional().meta({
        description:
          'Waits up to this long for something newer than the cursor. Only with `order: "oldest"`.',
      }),
    }).superRefine((request, context) => {
      for (const issue of contradictions(request)) context.addIssue(issue);
    }, alsoWhenFieldsFail),
    answer: z.strictObject({
      matches: z.array(matchSchema).meta({ description: 'In the requested order.' }),
      removed: removedMatches,
      hidden: hiddenMatches,
      next_cursor: z.string().nullable().meta({
        description:
          'Continues in the same direction. Never null with `order: "oldest"`: keep it for the next request.',
      }),
      coverage: coverageSchema
        .nullable()
        .meta({ description: 'Null unless the request names a rule or a platform.' }),
    }),
    errors: ['not_found', 'out_of_range'],
    example: {
      request: { rule_id: 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p', order: 'oldest', limit: 50, wait_seconds: 20 },
      answer: {
        matches: [exampleMatch],
        next_cursor: exampleCursor,
        coverage: {
          complete_through: '2026-11-14T22:51:10.000Z',
          gaps: [
            {
              platform: 'x',
              from: '2026-11-14T22:48:00.000Z',
              to: '2026-11-14T22:48:04.250Z',
              reason: 'dropped',
              repaired: true,
            },
          ],
        },
      },
    },
  },
  GetMatch: {
    scope: 'matches:read',
    changes: false,
    summary: 'Get a match',
    description:
      'Returns one stored match. A match that was removed, whose rule was deleted, or that is older than the retention period does not exist.',
    request: requestObject({ match_id: text({ max: 100, description: 'Id of the match.' }) }),
    answer: matchSchema,
    errors: ['not_found'],
    example: { request: { match_id: exampleMatch.id }, answer: exampleMatch },
  },
  CountMatches: {
    scope: 'matches:read',
    changes: false,
    summary: 'Count matches',
    description:
      'Counts stored matches by the time at which they were created, in steps of equal length: what `POST /matches` lists between the same `from` and `to`, with the hidden ones. Earshot refuses to count more than 1,000,000 matches, or for too long: request a shorter time or one rule.',
    request: requestObject({
      rule_id: ruleFilter.optional(),
      platform: platformFilter,
      from: requestTime.meta({ description: 'Where the first step begins.' }),
      to: requestTime.meta({
        description: 'Where the last step ends; it can be shorter than the others.',
      }),
      step: integer(1, stepSecondsMax).meta({
        description: `Seconds. At most ${stepsMax} steps fit between \`from\` and \`to\`.`,
      }),
      by: z.enum(['rule', 'platform']).optional().meta({
        description: 'One series per rule or platform that has matches. Default: one for all.',
      }),
    }).superRefine((request, context) => {
      for (const issue of fromBeforeTo(request)) context.addIssue(issue);
      for (const issue of tooManySteps(request)) context.addIssue(issue);
    }, alsoWhenFieldsFail),
    answer: z.strictObject({
      from: timestamp.meta({ description: 'Where the first step begins.' }),
      to: timestamp.meta({ description: 'Where the last step ends.' }),
      step: z.int().min(1).meta({ description: 'Seconds.' }),
      series: z
        .array(
          z.strictObject({
            rule_id: ruleId.optional().meta({ description: 'Only with `by: "rule"`.' }),
            platform: platformSchema.optional().meta({ description: 'Only with `by: "platform"`.' }),
            counts: z.array(z.int().min(0)).meta({ description: 'One for each step, in order of time.' }),
          }),
        )
        .meta({ description: `Most matches first, at most ${seriesMax}.` }),
    }),
    errors: ['not_found', 'failed_precondition'],
    example: {
      request: {
        from: '2026-11-14T20:00:00.000Z',
        to: '2026-11-14T23:00:00.000Z',
        step: 3_600,
        by: 'platform',
      },
      answer: {
        from: '2026-11-14T20:00:00.000Z',
        to: '2026-11-14T23:00:00.000Z',
        step: 3_600,
        series: [
          { platform: 'x', counts: [12, 0, 31] },
          { platform: 'firehose', counts: [1, 2, 0] },
        ],
      },
    },
  },
});
