import { z } from 'zod';
import { matchId, nextCursor, ruleId, timestamp } from './answer-fields.ts';
import { defineOperations } from './operation.ts';
import { perPlatform, platformSchema } from './platforms.ts';
import {
  alsoWhenFieldsFail,
  longPageLimit,
  pageCursor,
  requestIssue,
  requestObject,
  ruleFilter,
  text,
} from './request-fields.ts';

const labelNames = ['relevant', 'not_relevant'] as const;
export type LabelName = (typeof labelNames)[number];

const labelSchema = z
  .strictObject({
    match_id: matchId,
    rule_id: ruleId,
    platform: platformSchema.meta({ description: 'Where the item is from.' }),
    label: z
      .enum(labelNames)
      .meta({ description: 'Whether the item is relevant to the intent of the rule.' }),
    note: z.string().nullable().meta({ description: 'Why, as the caller wrote it.' }),
    labelled_at: timestamp.meta({ description: 'When it was last labelled.' }),
    labelled_by: z.string().nullable().meta({ description: 'Id of the key that labelled it.' }),
  })
  .meta({ description: 'A judgement of one match by a person or agent.' });

export type Label = z.output<typeof labelSchema>;

export const muteFields = ['author', 'domain', 'phrase'] as const;
export type MuteField = (typeof muteFields)[number];

const muteId = z
  .string()
  .regex(/^mut_[0-9A-Za-z]+$/)
  .meta({ description: 'Id of the mute.' });

const mutedValue = {
  author: 'Author by handle or by id on the platform.',
  domain: 'Site of the item: this domain and its subdomains.',
  phrase: 'Words in this order in the text or title, in upper or lower case.',
} as const;

const muteSchema = z
  .strictObject({
    id: muteId,
    rule_id: ruleId.nullable().meta({ description: 'Only matches of this rule; null: of every rule.' }),
    author: z.string().nullable().meta({ description: mutedValue.author }),
    domain: z.string().nullable().meta({ description: mutedValue.domain }),
    phrase: z.string().nullable().meta({ description: mutedValue.phrase }),
    created_at: timestamp.meta({ description: 'When it was created.' }),
    created_by: z.string().nullable().meta({ description: 'Id of the key that created it.' }),
  })
  .meta({
    description: 'Matches that lists, streams and deliveries leave out. Exactly one of three is set.',
  });

export type Mute = z.output<typeof muteSchema>;

const exclusions = perPlatform(z.string()).meta({
  description:
    'What to add to the query to exclude it there, which also saves its price; only platforms that can.',
});

const suggestionSchema = z
  .strictObject({
    rule_id: ruleId,
    author: z.string().nullable().meta({ description: mutedValue.author }),
    domain: z.string().nullable().meta({ description: mutedValue.domain }),
    rejected: z.int().meta({ description: 'Its matches of this rule with the label `not_relevant`.' }),
    query: exclusions,
  })
  .meta({ description: 'An author or site that you rejected at least three times. Send it to MuteMatches.' });

const share = z
  .strictObject({
    estimate: z.number().min(0).max(1).meta({ description: 'A share, from 0 to 1.' }),
    low: z.number().min(0).max(1).meta({ description: 'Lower end of its 95% interval.' }),
    high: z.number().min(0).max(1).meta({ description: 'Upper end of its 95% interval.' }),
  })
  .nullable();

const counted = (description: string) => z.int().min(0).meta({ description });

const exampleMatchId = 'mat_0000000002rs';
const exampleRuleId = 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p';
const exampleKeyId = 'key_01kb2n0a4c7q5t8w3y6z1v0n2p';
const exampleLabel = {
  match_id: exampleMatchId,
  rule_id: exampleRuleId,
  platform: 'x',
  label: 'not_relevant',
  note: 'The metal, not the language.',
  labelled_at: '2026-11-15T08:00:00.000Z',
  labelled_by: exampleKeyId,
} as const;
const exampleMute = {
  id: 'mut_01kb2n0a4c7q5t8w3y6z1v0n2p',
  rule_id: exampleRuleId,
  author: 'rustremoval',
  domain: null,
  phrase: null,
  created_at: '2026-11-15T08:00:10.000Z',
  created_by: exampleKeyId,
} as const;

const muted = (field: MuteField) => text({ max: 200, description: mutedValue[field] }).optional();

/** Which matches are relevant: labels by people and agents, and mutes. */
export const relevanceOperations = defineOperations('Relevance', {
  LabelMatches: {
    scope: 'matches:label',
    changes: true,
    summary: 'Label matches',
    description:
      'Says whether matches are relevant to the intent of their rule. A match has one label; a new one replaces it. Labels stay when the rule changes, and are deleted with the rule or the item.',
    request: requestObject({
      match_ids: z
        .array(text({ max: 100, description: 'Id of the match.' }))
        .max(100)
        .superRefine((ids, context) => {
          if (ids.length === 0) context.addIssue(requestIssue('too_short', 'Must have at least one entry.'));
        })
        .meta({ description: 'At most 100 matches of the account.', minItems: 1 }),
      label: z.enum(labelNames).nullable().meta({ description: 'Null removes the label.' }),
      note: text({ max: 500, description: 'Why, for people and for the judge.' }).optional(),
    }),
    answer: z.strictObject({
      labelled: z.int().meta({ description: 'How many matches have the label now, or have none any more.' }),
      mute_suggestions: z.array(suggestionSchema).meta({
        description:
          'Authors and sites that you rejected at least three times. Nothing is muted automatically.',
      }),
    }),
    errors: ['not_found', 'aborted'],
    example: {
      request: { match_ids: [exampleMatchId], label: 'not_relevant', note: exampleLabel.note },
      answer: {
        labelled: 1,
        mute_suggestions: [
          {
            rule_id: exampleRuleId,
            author: 'rustremoval',
            domain: null,
            rejected: 3,
            query: { x: '-from:rustremoval' },
          },
        ],
      },
    },
  },
  ListLabels: {
    scope: 'matches:read',
    changes: false,
    summary: 'List labels',
    description: 'Lists the labels of the account, by match, the newest match first.',
    request: requestObject({ rule_id: ruleFilter.optional(), limit: longPageLimit, cursor: pageCursor }),
    answer: z.strictObject({
      labels: z.array(labelSchema).meta({ description: 'Newest match first.' }),
      next_cursor: nextCursor,
    }),
    errors: ['not_found'],
    example: {
      request: { rule_id: exampleRuleId },
      answer: { labels: [exampleLabel], next_cursor: null },
    },
  },
  MuteMatches: {
    scope: 'matches:label',
    changes: true,
    summary: 'Mute an author, site or phrase',
    description:
      'Lists, streams, readers and deliveries leave out matching items, past and future, and count them. The items are still stored and billed: to save their price, exclude them in the query. DeleteMute shows them again.',
    request: requestObject({
      rule_id: ruleFilter.optional(),
      author: muted('author'),
      domain: muted('domain'),
      phrase: muted('phrase'),
    }).superRefine((request, context) => {
      const given = muteFields.filter((field) => request?.[field] !== undefined);
      if (given.length === 1) return;
      context.addIssue(requestIssue('required', 'Send exactly one of "author", "domain" and "phrase".'));
    }, alsoWhenFieldsFail),
    answer: muteSchema.extend({
      mute_id: muteId,
      query: exclusions,
    }),
    errors: ['not_found', 'already_exists', 'aborted'],
    example: {
      request: { rule_id: exampleRuleId, author: 'rustremoval' },
      answer: { ...exampleMute, mute_id: exampleMute.id, query: { x: '-from:rustremoval' } },
    },
  },
  ListMutes: {
    scope: 'matches:read',
    changes: false,
    summary: 'List mutes',
    description: 'Lists the mutes of the account.',
    request: requestObject({ limit: longPageLimit, cursor: pageCursor }),
    answer: z.strictObject({
      mutes: z.array(muteSchema).meta({ description: 'Newest first.' }),
      next_cursor: nextCursor,
    }),
    example: { request: {}, answer: { mutes: [exampleMute], next_cursor: null } },
  },
  DeleteMute: {
    scope: 'matches:label',
    changes: true,
    summary: 'Delete a mute',
    description: 'The matches that it left out are listed again. Streams and deliveries do not repeat them.',
    request: requestObject({ mute_id: text({ max: 100, description: 'Id of the mute.' }) }),
    answer: z.strictObject({
      mute_id: muteId,
      deleted_at: timestamp.meta({ description: 'When it was deleted.' }),
    }),
    errors: ['not_found', 'aborted'],
    example: {
      request: { mute_id: exampleMute.id },
      answer: { mute_id: exampleMute.id, deleted_at: '2026-11-15T09:00:00.000Z' },
    },
  },
  GetRelevance: {
    scope: 'matches:read',
    changes: false,
    summary: 'Get the relevance of a rule',
    description:
      'How well the matches of a rule fit its intent, and how much the judge wrongly rejects, estimated from your labels. Each share has its 95% interval (Wilson).',
    request: requestObject({ rule_id: text({ max: 100, description: 'Id of the rule.' }) }),
    answer: z.strictObject({
      rule_id: ruleId,
      judge: z
        .string()
        .nullable()
        .meta({ description: 'The model that judges its matches; null if none does.' }),
      labels: z
        .strictObject({
          relevant: counted('Labelled `relevant`.'),
          not_relevant: counted('Labelled `not_relevant`.'),
        })
        .meta({ description: 'Labelled matches of the rule.' }),
      verdicts: z
        .strictObject({
          relevant: counted('Judged `relevant`.'),
          not_relevant: counted('Judged `not_relevant`: left out by `not_irrelevant`.'),
          unsure: counted('Judged `unsure`.'),
          unjudged: counted('Without a verdict: the judge failed, or its budget was spent.'),
        })
        .meta({ description: 'Verdicts of this model on the present intent.' }),
      is_proven: z.boolean().meta({
        description:
          'Whether at least 60 matches are labelled `relevant`. Before that, readers leave out no verdict of the judge unless the rule has `accept_unproven`.',
      }),
      labels_missing: counted('How many more must be labelled `relevant`.'),
      precision: share.meta({
        description:
          'Of the labelled matches that are not rejected: the share that is relevant. Null without labels.',
      }),
      recall: share.meta({
        description:
          'Of the relevant matches: the share that is not rejected. It rests on the labels of a random sample of rejected matches; null without them.',
      }),
      audit: z
        .strictObject({
          labelled: counted('Labelled matches of the random samples.'),
          relevant: counted('Those that the judge rejected although they are relevant.'),
          match_ids: z.array(matchId).meta({
            description:
              'A random sample of the rejected matches of this week, at most 10, without a label: label them.',
          }),
        })
        .meta({ description: 'What the judge may reject wrongly.' }),
      judge_usd: z
        .number()
        .min(0)
        .meta({ description: 'What the judge cost for this rule in the last 30 days, at most.' }),
    }),
    errors: ['not_found'],
    example: {
      request: { rule_id: exampleRuleId },
      answer: {
        rule_id: exampleRuleId,
        judge: 'llama3.2:3b',
        labels: { relevant: 64, not_relevant: 41 },
        verdicts: { relevant: 812, not_relevant: 930, unsure: 57, unjudged: 3 },
        is_proven: true,
        labels_missing: 0,
        precision: { estimate: 0.9, low: 0.81, high: 0.95 },
        recall: { estimate: 0.96, low: 0.86, high: 0.99 },
        audit: { labelled: 30, relevant: 1, match_ids: [exampleMatchId] },
        judge_usd: 0.21,
      },
    },
  },
});
