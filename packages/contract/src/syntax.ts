import { z } from 'zod';
import { ruleTypeSchema } from './answer-fields.ts';
import { perPlatform, platforms } from './platforms.ts';
import { distinctPlatforms, requestObject } from './request-fields.ts';

export const platformSyntaxRequest = requestObject({
  platforms: distinctPlatforms
    .default([...platforms])
    .meta({ description: 'Platforms to explain; both by default.' }),
});

const operatorSchema = z.strictObject({
  name: z.string(),
  form: z.string().meta({ description: 'How it is written.' }),
  meaning: z.string(),
  standalone: z.boolean().meta({ description: 'Whether a rule may consist of it alone.' }),
  negatable: z.boolean(),
  examples: z.array(z.string()),
  tier: z
    .string()
    .meta({ description: 'The access to the platform that it needs; `standard` is what everyone has.' }),
});

const syntaxExampleSchema = z.strictObject({
  intent: z.string(),
  value: z.string(),
  explanation: z.string(),
});

export const syntaxGuideSchema = z
  .strictObject({
    rule_type: ruleTypeSchema,
    summary: z.string(),
    grammar_version: z.string(),
    limits: z.record(z.string(), z.number()).meta({ description: 'Limits of a rule value, by name.' }),
    precedence: z.string().meta({ description: 'How a rule is read: what binds tighter than what.' }),
    operators: z.array(operatorSchema),
    pitfalls: z.array(z.strictObject({ wrong: z.string(), right: z.string(), why: z.string() })),
    examples: z.array(syntaxExampleSchema),
    markdown: z.string().meta({ description: 'The whole guide as one text, ready for an agent.' }),
  })
  .meta({ description: "The rule language of one platform, generated from the parser's own tables." });

export const platformSyntaxAnswer = z.strictObject({ platforms: perPlatform(syntaxGuideSchema) });

export type SyntaxGuide = z.output<typeof syntaxGuideSchema>;
