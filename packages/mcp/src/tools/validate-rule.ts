import { requestObject } from '@earshot/contract';
import { z } from 'zod';
import { findingSchema, firstFindings, toFinding } from '../finding.ts';
import { perPlatform } from '../per-platform.ts';
import { draftExamples, draftOverrides, platforms, readExamples } from '../rule-fields.ts';
import { defineTool, readsOnly } from '../tool.ts';

export const validateRule = defineTool({
  name: 'validate_rule',
  title: 'Check a rule',
  description:
    'Errors and likely mistakes in queries, with positions and corrected queries; examples that fail. Creates nothing, costs nothing.',
  annotations: readsOnly,
  operation: 'ValidateRule',
  input: requestObject({
    platforms: platforms.optional(),
    overrides: draftOverrides,
    intent: z.string().optional(),
    examples: draftExamples.optional(),
  }),
  output: z.object({
    platforms: z.record(
      z.string(),
      z.object({
        valid: z.boolean(),
        translated_value: z.string().nullable(),
        findings: z.array(findingSchema),
      }),
    ),
    intent_hints: z.array(z.string()).optional(),
    example_violations: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  }),
  async run(args, { earshot, signal }) {
    const {
      platforms: checked,
      intent_hints: hints,
      ...answer
    } = await earshot.validateRule({ ...args, examples: readExamples(args.examples) }, { signal });
    return {
      structured: {
        ...answer,
        intent_hints: hints?.map(({ message }) => message),
        platforms: perPlatform(checked, ({ valid, translated_value, diagnostics }, name) => ({
          valid,
          translated_value,
          findings: firstFindings(diagnostics.map((found) => toFinding(args.overrides[name], found))),
        })),
      },
    };
  },
});
