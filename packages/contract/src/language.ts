import { z } from 'zod';
import { diagnosticSchema, ruleTypeSchema, violationSchema } from './answer-fields.ts';
import { defineOperations } from './operation.ts';
import { perPlatform, platforms } from './platforms.ts';
import { alsoWhenFieldsFail, distinctPlatforms, requestObject } from './request-fields.ts';
import { ruleExamples } from './rule-examples.ts';
import {
  emptyOverrides,
  optionalPlatforms,
  overrideMismatches,
  overrides,
  ruleIntent,
} from './rule-fields.ts';

const validationSchema = z.strictObject({
  valid: z.boolean().meta({
    description:
      'Whether CreateRule would register the value without `accept_suspicious`: it has no error and no suspicious finding, and none of its examples fails.',
  }),
  translated_value: z.string().nullable().meta({
    description:
      'The canonical value that would be registered if suspicious findings are accepted; null if it has an error.',
  }),
  diagnostics: z.array(diagnosticSchema).meta({ description: 'Everything that was found.' }),
});

const operatorSchema = z.strictObject({
  name: z.string().meta({ description: 'What it is called.' }),
  form: z.string().meta({ description: 'How it is written.' }),
  meaning: z.string().meta({ description: 'What it matches.' }),
  standalone: z.boolean().meta({ description: 'Whether a rule may consist of it alone.' }),
  negatable: z.boolean().meta({ description: 'Whether it may be negated.' }),
  examples: z.array(z.string()).meta({ description: 'Rules that use it.' }),
  tier: z
    .string()
    .meta({ description: 'The access to the platform that it needs; `standard` is what everyone has.' }),
});

const syntaxExampleSchema = z.strictObject({
  intent: z.string().meta({ description: 'What is wanted.' }),
  value: z.string().meta({ description: 'The rule for it.' }),
  explanation: z.string().meta({ description: 'How the rule is read.' }),
});

export const syntaxGuideSchema = z
  .strictObject({
    rule_type: ruleTypeSchema,
    summary: z.string().meta({ description: 'The language in a sentence.' }),
    grammar_version: z.string().meta({ description: 'Changes when the language does.' }),
    limits: z.record(z.string(), z.number()).meta({ description: 'Limits of a rule value, by name.' }),
    precedence: z.string().meta({ description: 'How a rule is parsed: the precedence of the operators.' }),
    operators: z.array(operatorSchema).meta({ description: 'Everything that a rule may use.' }),
    pitfalls: z
      .array(
        z.strictObject({
          wrong: z.string().meta({ description: 'What is often written.' }),
          right: z.string().meta({ description: 'What was meant.' }),
          why: z.string().meta({ description: 'What the first one really does.' }),
        }),
      )
      .meta({ description: 'Mistakes that are easily made.' }),
    examples: z.array(syntaxExampleSchema).meta({ description: 'Whole rules, with what they are for.' }),
    markdown: z.string().meta({ description: 'The whole guide as one text, ready for an agent.' }),
  })
  .meta({ description: "The rule language of one platform, generated from the parser's own tables." });

export type SyntaxGuide = z.output<typeof syntaxGuideSchema>;

/** The rule languages of the platforms: explained, and checked. */
export const languageOperations = defineOperations('Rules', {
  ValidateRule: {
    scope: 'rules:read',
    changes: false,
    summary: 'Check a rule without creating it',
    description:
      'Reports errors in the queries with positions and fixes, and the queries that would be registered. Nothing is created.',
    request: requestObject({
      platforms: optionalPlatforms,
      overrides,
      intent: ruleIntent.optional().meta({ description: 'Returns hints about it. Never an error.' }),
      examples: ruleExamples.optional(),
    }).superRefine((request, context) => {
      for (const issue of emptyOverrides(request)) context.addIssue(issue);
      for (const issue of overrideMismatches(request)) context.addIssue(issue);
    }, alsoWhenFieldsFail),
    answer: z.strictObject({
      platforms: perPlatform(validationSchema),
      intent_hints: z
        .array(
          z.strictObject({
            code: z
              .enum(['intent_too_short', 'intent_without_exclusion'])
              .meta({ description: 'What kind of hint, for programs.' }),
            message: z.string().meta({ description: 'What to add.' }),
          }),
        )
        .optional()
        .meta({ description: 'What the intent lacks for people and a judge. Only when an intent was sent.' }),
      example_violations: z.array(violationSchema).optional().meta({
        description: 'The examples that fail, as CreateRule would refuse them. Only when examples were sent.',
      }),
    }),
    example: {
      request: { platforms: ['x'], overrides: { x: '"rust 2027" OR "cargo 2027" -is:retweet' } },
      answer: {
        platforms: {
          x: {
            valid: false,
            translated_value: '"cargo 2027" -is:retweet OR "rust 2027"',
            diagnostics: [
              {
                severity: 'suspicious',
                code: 'or_precedence',
                message:
                  '-is:retweet applies to one branch of the OR only, because a space binds tighter than OR. Group the branches, or that branch.',
                span: { start: 28, end: 39 },
                fixes: [
                  {
                    title: 'Apply it to all branches',
                    certainty: 'guess',
                    edits: [
                      { span: { start: 0, end: 0 }, text: '(' },
                      { span: { start: 27, end: 27 }, text: ')' },
                    ],
                  },
                  {
                    title: 'Keep it on its branch',
                    certainty: 'guess',
                    edits: [
                      { span: { start: 15, end: 15 }, text: '(' },
                      { span: { start: 39, end: 39 }, text: ')' },
                    ],
                  },
                ],
              },
            ],
          },
        },
      },
    },
  },
  PlatformSyntax: {
    path: '/platforms/syntax',
    scope: null,
    changes: false,
    summary: 'Get platform syntax',
    description: 'Explains how to write queries for each platform. Any valid key may call it.',
    request: requestObject({
      platforms: distinctPlatforms
        .default([...platforms])
        .meta({ description: 'Platforms to explain; all by default.' }),
    }),
    answer: z.strictObject({ platforms: perPlatform(syntaxGuideSchema) }),
    example: {
      request: { platforms: ['x'] },
      answer: {
        platforms: {
          x: {
            rule_type: 'premium',
            summary: 'Terms and operators; a space means AND.',
            grammar_version: '1',
            limits: { value_length_max: 1024 },
            precedence: 'A dash binds tightest, then a space (and), then OR.',
            operators: [
              {
                name: 'is:retweet',
                form: 'is:retweet',
                meaning: 'Matches retweets.',
                standalone: false,
                negatable: true,
                examples: ['cats -is:retweet'],
                tier: 'standard',
              },
            ],
            pitfalls: [
              {
                wrong: 'cats OR dogs -is:retweet',
                right: '(cats OR dogs) -is:retweet',
                why: 'A space binds tighter than OR.',
              },
            ],
            examples: [
              {
                intent: 'Original posts about cats',
                value: 'cats -is:retweet',
                explanation: 'The word cats, without retweets.',
              },
            ],
            markdown: '# Rules on x\n\nTerms and operators; a space means AND.\n',
          },
        },
      },
    },
  },
});
