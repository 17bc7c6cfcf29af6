import { z } from 'zod';

export const timestamp = z.iso.datetime({ precision: 3 }).meta({ examples: ['2026-11-14T22:46:00.000Z'] });

export const ruleId = z.string().regex(/^rule_[0-9A-Za-z]+$/);

export const ruleTypeSchema = z.enum(['premium', 'regular']).meta({
  description: 'Premium rules (`x`) are limited by the plan; regular rules (`firehose`) are not.',
});

/** Offsets into the value as the caller sent it, in UTF-16 code units. */
const spanSchema = z.strictObject({ start: z.int().min(0), end: z.int().min(0) }).meta({
  description: 'Part of the value, as offsets in UTF-16 code units; `end` is exclusive.',
});

const fixSchema = z.strictObject({
  description: z.string().meta({ description: 'What the fix does.' }),
  span: spanSchema,
  replacement: z.string().meta({ description: 'The text to put in place of the span.' }),
});

export const warningSchema = z
  .strictObject({
    code: z.string(),
    message: z.string(),
    span: spanSchema,
    fixes: z.array(fixSchema).optional(),
  })
  .meta({ description: 'A value that is accepted, but may not do what its author wants.' });

export const violationSchema = z
  .strictObject({
    field: z
      .string()
      .meta({ description: 'Path of the field, such as `overrides.x`; empty for the request.' }),
    code: z.string(),
    message: z.string().meta({ description: 'What to do about it.' }),
    span: spanSchema.optional(),
    fixes: z.array(fixSchema).optional(),
  })
  .meta({ description: 'What is wrong with one field of the request.' });

export type Violation = z.output<typeof violationSchema>;
export type Warning = z.output<typeof warningSchema>;
