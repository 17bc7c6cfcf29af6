import { z } from 'zod';
import { ruleId, spanSchema, timestamp } from './answer-fields.ts';
import { platformSchema } from './platforms.ts';
import {
  alsoWhenFieldsFail,
  integer,
  type RequestIssue,
  requestIssue,
  requestObject,
  requestTime,
  text,
} from './request-fields.ts';

export const listMatchesRequest = requestObject({
  rule_id: text({ max: 100, description: 'Only matches of this rule.' }).optional(),
  platform: platformSchema.optional().meta({ description: 'Only matches on this platform.' }),
  limit: integer(1, 100).default(50).meta({ description: 'Number of matches to return.' }),
  cursor: text({ max: 1_024, description: '`next_cursor` of the answer before.' }).optional(),
  order: z.enum(['newest', 'oldest']).default('newest').meta({ description: 'Which end to start from.' }),
  since: requestTime.optional().meta({ description: 'Only matches created at or after this time.' }),
  until: requestTime.optional().meta({ description: 'Only matches created before this time.' }),
  wait_seconds: integer(0, 30).optional().meta({
    description:
      'Holds the request until something newer than the cursor exists. Only with `order: "oldest"`.',
  }),
}).superRefine((request, context) => {
  for (const issue of contradictions(request)) context.addIssue(issue);
}, alsoWhenFieldsFail);

const partialRequest = z
  .looseObject({ order: z.unknown(), wait_seconds: z.unknown(), since: z.unknown(), until: z.unknown() })
  .partial();

/** Takes anything: it also runs on a request whose fields are missing or wrong. */
function contradictions(request: unknown): RequestIssue[] {
  const { data } = partialRequest.safeParse(request);
  if (data === undefined) return [];
  const issues: RequestIssue[] = [];
  if (typeof data.wait_seconds === 'number' && data.order === 'newest') {
    issues.push(requestIssue('invalid_value', 'Works only with "order": "oldest".', ['wait_seconds']));
  }
  if (typeof data.since === 'string' && typeof data.until === 'string') {
    if (Date.parse(data.since) >= Date.parse(data.until)) {
      issues.push(requestIssue('invalid_value', 'Must be later than "since".', ['until']));
    }
  }
  return issues;
}

const payloadSchema = z
  .strictObject({
    url: z.string().nullable(),
    title: z.string().nullable(),
    text: z.string().nullable(),
    author: z
      .strictObject({ id: z.string(), name: z.string().nullable(), handle: z.string().nullable() })
      .nullable()
      .meta({ description: 'Null when the platform names none.' }),
    published_at: timestamp.nullable(),
    language: z.string().nullable(),
    raw: z.record(z.string(), z.unknown()).meta({ description: 'The item as the platform delivered it.' }),
  })
  .meta({ description: 'The matching item, in the same form for every platform.' });

const whySchema = z
  .strictObject({
    verdict: z.enum(['match', 'unknown']).meta({
      description:
        "Our own reading of the rule. The platform's verdict counts; `unknown`: the item alone does not show why.",
    }),
    confidence: z.enum(['exact', 'approximate']),
    evidence: z
      .array(
        z.strictObject({
          rule_span: spanSchema,
          field: z.string().meta({ description: 'The operator or field of the rule, such as `keyword`.' }),
          path: z.string().meta({ description: 'Where in `payload.raw`, such as `data.text`.' }),
          text_span: spanSchema.nullable().meta({ description: 'Null when the whole value is meant.' }),
          text: z.string(),
        }),
      )
      .meta({
        description: 'The smallest set of places that is enough. `rule_span` refers to `translated_value`.',
      }),
    undecided: z
      .array(z.strictObject({ rule_span: spanSchema, field: z.string(), why: z.string() }))
      .meta({ description: 'Parts of the rule that the item does not decide.' }),
  })
  .meta({ description: 'Why the item matched.' });

export const matchSchema = z
  .strictObject({
    id: z.string().regex(/^mat_[0-9A-Za-z]+$/),
    rule_id: ruleId,
    rule_version: z.int().min(1).meta({ description: 'Version of the rule that matched.' }),
    created_at: timestamp,
    platform: platformSchema,
    platform_post_id: z.string().meta({ description: "The post's id on `x`; the page's URL on `firehose`." }),
    via: z.enum(['stream', 'search']).meta({
      description: '`search`: it was missed by the stream and found when the gap was repaired.',
    }),
    payload: payloadSchema,
    why: whySchema,
  })
  .meta({ description: 'One item that matched one rule.' });

const gapSchema = z.strictObject({
  platform: platformSchema,
  from: timestamp,
  to: timestamp.nullable().meta({ description: 'Null while the gap lasts.' }),
  reason: z.string(),
  repaired: z.boolean().meta({ description: 'Whether what was missed has been fetched since.' }),
});

export const coverageSchema = z
  .strictObject({
    complete_through: timestamp.nullable().meta({
      description: 'Everything up to this time is here, apart from the gaps. Null: nothing was watched yet.',
    }),
    gaps: z.array(gapSchema),
  })
  .meta({ description: 'Whether silence means that nothing happened.' });

export const listMatchesAnswer = z.strictObject({
  matches: z.array(matchSchema),
  next_cursor: z.string().nullable().meta({
    description: 'Continues in the same direction. Never null with `order: "oldest"`: keep it and ask again.',
  }),
  coverage: coverageSchema
    .nullable()
    .meta({ description: 'Null unless the request names a rule or a platform.' }),
});

export type Match = z.output<typeof matchSchema>;
export type Why = z.output<typeof whySchema>;
export type MatchPayload = z.output<typeof payloadSchema>;
export type Coverage = z.output<typeof coverageSchema>;
