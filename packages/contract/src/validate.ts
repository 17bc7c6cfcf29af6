import { z } from 'zod';
import { diagnosticSchema, violationSchema } from './answer-fields.ts';
import { perPlatform } from './platforms.ts';
import { alsoWhenFieldsFail, distinctPlatforms, requestObject } from './request-fields.ts';
import { ruleExamples } from './rule-examples.ts';
import { overrideMismatches, overrides } from './rules.ts';

export const validateRuleRequest = requestObject({
  platforms: distinctPlatforms.meta({ description: 'Platforms to check the rule for.' }),
  overrides,
  examples: ruleExamples.optional(),
}).superRefine((request, context) => {
  for (const issue of overrideMismatches(request)) context.addIssue(issue);
}, alsoWhenFieldsFail);

const validationSchema = z.strictObject({
  valid: z.boolean().meta({
    description: 'Whether CreateRule would register the value: it has no error, and no example of it fails.',
  }),
  translated_value: z
    .string()
    .nullable()
    .meta({ description: 'The canonical value that would be registered; null when it is not valid.' }),
  diagnostics: z.array(diagnosticSchema),
});

export const validateRuleAnswer = z.strictObject({
  platforms: perPlatform(validationSchema),
  example_violations: z.array(violationSchema).optional().meta({
    description: 'The examples that fail, as CreateRule would refuse them. Only when examples were sent.',
  }),
});
