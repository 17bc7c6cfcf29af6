import { z } from 'zod';
import { platformDescriptions, platforms } from './platforms.ts';

export const timestamp = z.iso.datetime({ precision: 3 }).meta({ examples: ['2026-11-14T22:46:00.000Z'] });

export const ruleId = z
  .string()
  .regex(/^rule_[0-9A-Za-z]+$/)
  .meta({ description: 'Id of the rule.' });
export const matchId = z
  .string()
  .regex(/^mat_[0-9A-Za-z]+$/)
  .meta({ description: 'Id of the match.' });

/** What a reader leaves out. */
export const relevanceFilters = ['all', 'not_irrelevant', 'relevant'] as const;
export type RelevanceFilter = (typeof relevanceFilters)[number];
const relevanceFilterText =
  'Default `all`. `not_irrelevant` leaves out matches that are `not_relevant` by label or judge, `relevant` also those that are `unsure`. Matches without a verdict are never left out.';
export const relevanceFilter = z.enum(relevanceFilters).meta({ description: relevanceFilterText });

/** In the form of the server's cursors. */
export const exampleCursor = 'cOZaHcpf7tvEtWCXwSbisgjEyODk2ODoxMjkwMDA';

export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'Continues the list; null when it is complete.' });

const platformsOf = (ruleType: 'premium' | 'regular') =>
  platforms
    .filter((platform) => platformDescriptions[platform].ruleType === ruleType)
    .map((platform) => `\`${platform}\``)
    .join(', ');

export const ruleTypeSchema = z.enum(['premium', 'regular']).meta({
  description: `Premium rules (${platformsOf('premium')}) are limited by the plan; regular rules (${platformsOf('regular')}) are not.`,
});

/** Offsets into the value as the caller sent it, in UTF-16 code units. */
export const spanSchema = z
  .strictObject({
    start: z.int().min(0).meta({ description: 'Where it begins.' }),
    end: z.int().min(0).meta({ description: 'Where it ends: behind the last code unit.' }),
  })
  .meta({
    description: 'Part of the value, as offsets in UTF-16 code units; `end` is exclusive.',
  });

const fixSchema = z.strictObject({
  title: z.string().meta({ description: 'What the fix does.' }),
  certainty: z.enum(['certain', 'guess']).meta({
    description:
      '`certain`: only one meaning is possible, so a program may apply it. `guess`: choose according to the intent.',
  }),
  edits: z
    .array(z.strictObject({ span: spanSchema, text: z.string().meta({ description: 'What to put there.' }) }))
    .meta({ description: 'Replace each span with its text; the spans never overlap.' }),
});

export const violationSchema = z
  .strictObject({
    field: z
      .string()
      .meta({ description: 'Path of the field, such as `overrides.x`; empty for the request.' }),
    code: z.string().meta({ description: 'What kind of mistake, for programs.' }),
    message: z.string().meta({ description: 'What to do about it.' }),
    severity: z.enum(['error', 'suspicious']).optional().meta({
      description:
        'For a query: a `suspicious` finding is registered with `accept_suspicious`, an `error` never.',
    }),
    span: spanSchema.optional(),
    fixes: z.array(fixSchema).optional().meta({ description: 'Possible corrections.' }),
  })
  .meta({ description: 'What is wrong with one field of the request.' });

/** What the rule language says about one place of a value. */
export const diagnosticSchema = z
  .strictObject({
    severity: z.enum(['error', 'suspicious', 'warning', 'hint']).meta({
      description:
        '`error`: refused. `suspicious`: refused unless the request sends `accept_suspicious`. `warning` and `hint`: only reported.',
    }),
    code: z.string().meta({ description: 'What kind of finding, for programs.' }),
    message: z.string().meta({ description: 'What is wrong and what to do.' }),
    span: spanSchema,
    fixes: z.array(fixSchema).meta({ description: 'Ways to fix it; empty if there are none.' }),
  })
  .meta({
    description: 'A finding about one place of a query.',
  });

export type WireDiagnostic = z.output<typeof diagnosticSchema>;
export type Violation = z.output<typeof violationSchema>;
