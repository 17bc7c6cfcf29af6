import { z } from 'zod';
import { type Platform, platformDescriptions, platforms } from './platforms.ts';
import {
  alsoWhenFieldsFail,
  type RequestIssue,
  requestIssue,
  requestObject,
  requestTime,
  text,
} from './request-fields.ts';
import { quote } from './violations.ts';

/** Enough for the cases that a rule is about; together they are bounded because every list of rules carries them. */
const EXAMPLES_MAX = 20;
const EXAMPLES_BYTES_MAX = 16_384;
const RAW_DEPTH_MAX = 20;

const short = (description: string) => text({ max: 2_048, description }).nullable().optional();

const examplePayload = requestObject(
  {
    url: short('Address of the item.'),
    title: short('Title of the page.'),
    text: text({ max: 10_000, description: 'The whole text: of the post, or what was added to the page.' })
      .nullable()
      .optional(),
    author: requestObject(
      {
        id: short('Id on the platform.'),
        name: short('Name for people.'),
        handle: short('Name on the platform, without @.'),
      },
      'an author',
    )
      .nullable()
      .optional()
      .meta({ description: 'Who wrote it.' }),
    published_at: requestTime.nullable().optional().meta({ description: 'When it was published.' }),
    language: short('Language code, as the platform delivers it.'),
    raw: z.record(z.string(), z.unknown()).nullable().optional().meta({
      description: 'The item as the platform delivers it. If present, the other fields are ignored.',
    }),
  },
  'a payload',
)
  .superRefine((payload, context) => {
    const problem = payload?.raw && rawProblem(payload.raw, RAW_DEPTH_MAX);
    if (problem) context.addIssue({ ...problem, path: ['raw'] });
  })
  .meta({
    description:
      'An item as in a match, with only the fields that matter for the rule. Missing or null fields are unknown, and a clause that asks for them is undecided.',
  });

/** PostgreSQL refuses NUL characters and halves of surrogate pairs; deep nesting would exhaust the stack. */
function rawProblem(value: unknown, depthLeft: number): RequestIssue | undefined {
  if (typeof value === 'string') {
    const storable = value.isWellFormed() && !value.includes('\0');
    return storable ? undefined : requestIssue('invalid_value', 'Must be valid Unicode text without NUL.');
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depthLeft === 0)
    return requestIssue('invalid_value', `Must not be nested deeper than ${RAW_DEPTH_MAX} levels.`);
  for (const [key, entry] of Object.entries(value)) {
    const problem = rawProblem(key, 0) ?? rawProblem(entry, depthLeft - 1);
    if (problem) return problem;
  }
  return undefined;
}

const ruleExampleOn = (names: readonly Platform[]) =>
  requestObject(
    { platform: z.enum(names).meta({ description: 'Where the item is from.' }), payload: examplePayload },
    'an example',
  ).superRefine((example, context) => {
    if (!example?.payload || example.payload.raw) return;
    const { payload, platform } = example;
    const { exampleFields } = platformDescriptions[platform];
    if (exampleFields.some((field) => typeof payload[field] === 'string')) return;
    const fields = exampleFields.map(quote).join(', ');
    context.addIssue(requestIssue('required', `Needs ${fields} or "raw".`, ['payload']));
  });

const exampleListOn = (names: readonly Platform[], description: string) =>
  z
    .array(ruleExampleOn(names))
    // Far beyond the limit zod gives up before it looks at the entries.
    .max(100)
    .superRefine((list, context) => {
      if (list.length <= EXAMPLES_MAX) return;
      const message = `Must have at most ${EXAMPLES_MAX} entries; it has ${list.length}.`;
      context.addIssue(requestIssue('too_long', message));
    })
    .default([])
    .meta({ description, maxItems: EXAMPLES_MAX });

export const ruleExamplesOn = (names: readonly Platform[]) =>
  requestObject(
    {
      must_match: exampleListOn(names, 'Items that the rule must match.'),
      must_not_match: exampleListOn(names, 'Items that the rule must not match.'),
    },
    '"examples"',
  )
    .superRefine((examples, context) => {
      if (context.issues.length > 0) return;
      const bytes = new TextEncoder().encode(JSON.stringify(examples)).length;
      if (bytes <= EXAMPLES_BYTES_MAX) return;
      const message = `Must have at most ${EXAMPLES_BYTES_MAX} bytes as JSON; it has ${bytes}.`;
      context.addIssue(requestIssue('too_long', message));
    }, alsoWhenFieldsFail)
    .meta({
      description:
        'Example items for the rule. They are checked before anything is registered, and again when the value changes; one that fails is a violation.',
    });

export const ruleExamples = ruleExamplesOn(platforms);

export type RuleExamples = z.output<typeof ruleExamples>;
