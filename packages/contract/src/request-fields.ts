import { closest } from '@earshot/query';
import { z } from 'zod';
import { platformSchema, platforms } from './platforms.ts';
import { quote, VIOLATIONS_MAX, type ViolationCode } from './violations.ts';

/**
 * The building blocks of request schemas. They raise `custom` issues whose `params.code` is a
 * violation code, because zod's own issues do not distinguish a missing field from a wrong
 * one, and do not suggest a known name for an unknown field.
 */
export type RequestIssue = {
  readonly code: 'custom';
  readonly path: (string | number)[];
  readonly message: string;
  readonly params: { readonly code: ViolationCode };
  readonly input: unknown;
};

export function requestIssue(
  code: ViolationCode,
  message: string,
  path: (string | number)[] = [],
): RequestIssue {
  return { code: 'custom', path, message, params: { code }, input: undefined };
}

/** Checks on a whole object also run when single fields are wrong, so that the caller gets all violations at once. */
export const alsoWhenFieldsFail = { when: () => true };

/** A strict object that distinguishes missing fields from wrong ones, and suggests a known name for an unknown field. */
export function requestObject<Shape extends z.core.$ZodShape>(shape: Shape, what = 'this request') {
  const known = Object.keys(shape);
  return z.strictObject(shape).superRefine((_, context) => {
    const issues = eachUnknownKey(context.issues, (key) => unknownField(key, known, what));
    context.issues = issues.map((issue) => (isMissingField(issue) ? missingField(issue) : issue));
  }, alsoWhenFieldsFail);
}

/** Reports the unknown keys of a strict object one by one, and first: a misspelt name explains what follows. */
export function eachUnknownKey(
  issues: readonly z.core.$ZodRawIssue[],
  report: (key: string) => RequestIssue,
): z.core.$ZodRawIssue[] {
  const keys = issues.filter(namesUnknownKeys).flatMap((issue) => issue['keys']);
  const reports = keys
    .filter((key) => typeof key === 'string')
    .slice(0, VIOLATIONS_MAX)
    .map(report);
  return [...reports, ...issues.filter((issue) => !namesUnknownKeys(issue))];
}

function namesUnknownKeys(issue: z.core.$ZodRawIssue): boolean {
  return issue.code === 'unrecognized_keys' && !issue.path?.length;
}

function isMissingField(issue: z.core.$ZodRawIssue): boolean {
  return issue.path?.length === 1 && issue.input === undefined && issue.code !== 'custom';
}

function missingField(issue: z.core.$ZodRawIssue): RequestIssue {
  const field = String(issue.path?.[0]);
  return requestIssue('required', `${quote(field)} is required.`, [field]);
}

function unknownField(key: string, known: readonly string[], what: string): RequestIssue {
  const meant = closest(key, known);
  const hint =
    meant === null
      ? `The known fields are ${known.map(quote).join(', ') || 'none'}.`
      : `Did you mean ${quote(meant)}?`;
  return requestIssue('unknown_field', `${quote(key)} is not a field of ${what}. ${hint}`, [key]);
}

/** Text with 1 to `max` code points that is not blank and that PostgreSQL can store as it was sent. */
export function text(options: { readonly max: number; readonly description: string }) {
  const { max, description } = options;
  return z
    .string()
    .superRefine((value, context) => {
      const problem = textProblem(value, max);
      if (problem !== undefined) context.addIssue(problem);
    })
    .meta({ description, minLength: 1, maxLength: max, pattern: '\\S' });
}

function textProblem(value: string, max: number): RequestIssue | undefined {
  if (value.trim() === '') return requestIssue('too_short', 'Must not be empty or blank.');
  const length = codePoints(value);
  if (length > max) return requestIssue('too_long', `Must have at most ${max} characters; it has ${length}.`);
  if (value.includes('\0') || !value.isWellFormed()) {
    return requestIssue('invalid_value', 'Must be valid Unicode text without NUL characters.');
  }
  return undefined;
}

function codePoints(value: string): number {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}

/** A whole number. Not `z.int()`: its issue ends the parse, and the caller would get one violation at a time. */
export function integer(min: number, max: number) {
  return z
    .number()
    .superRefine((value, context) => {
      if (!isIntegerWithin(value, min, max)) context.addIssue(notAnInteger(min, max));
    })
    .meta({ type: 'integer', minimum: min, maximum: max });
}

/** A whole number: text in a query string, a number in a JSON body. */
export function queryInteger(min: number, max: number) {
  return z
    .union([z.string(), z.number()])
    .superRefine((value, context) => {
      const isDecimal = /^[0-9]{1,9}$/.test(String(value));
      if (!isDecimal || !isIntegerWithin(Number(value), min, max)) context.addIssue(notAnInteger(min, max));
    })
    .transform(Number)
    .pipe(integer(min, max));
}

function isIntegerWithin(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

function notAnInteger(min: number, max: number): RequestIssue {
  return requestIssue('invalid_value', `Must be a whole number from ${min} to ${max}.`);
}

const rfc3339 = z.iso.datetime({ offset: true });

/** A point in time from 1970 on, which PostgreSQL and NATS can represent. */
export const requestTime = z
  .string()
  .superRefine((value, context) => {
    if (rfc3339.safeParse(value).success && Date.parse(value) >= 0) return;
    const example = quote('2026-11-14T22:46:00.000Z');
    context.addIssue(
      requestIssue('invalid_value', `Must be an RFC 3339 time in 1970 or later, such as ${example}.`),
    );
  })
  .meta({ format: 'date-time' });

/**
 * Later than `from`, where both are there and are times. Takes anything: it also runs on a request with wrong fields. Made once
 * for a request, as every schema is: making one costs more than most requests.
 */
function timesInOrder(from: string, to: string): (request: unknown) => RequestIssue[] {
  const withTimes = z.looseObject({ [from]: z.string(), [to]: z.string() });
  return (request) => {
    const times = withTimes.safeParse(request);
    if (!times.success) return [];
    const isOutOfOrder = Date.parse(String(times.data[from])) >= Date.parse(String(times.data[to]));
    return isOutOfOrder ? [requestIssue('invalid_value', `Must be later than "${from}".`, [to])] : [];
  };
}

export const fromBeforeTo = timesInOrder('from', 'to');

const waits = z.looseObject({ order: z.literal('newest'), wait_seconds: z.number() });

/** Accepts any value, as `timesInOrder` does. Waiting needs the order from oldest to newest. */
export function waitingForNewest(request: unknown): RequestIssue[] {
  const message = 'Works only with "order": "oldest".';
  return waits.safeParse(request).success ? [requestIssue('invalid_value', message, ['wait_seconds'])] : [];
}

/** Beyond this length zod gives up before it looks at the entries: a hostile list costs nothing. */
const LIST_LENGTH_MAX = 100;

/** At least one of the choices, none twice. More entries than choices need no check: one is then unknown or listed twice. */
export function distinct<const Choice extends string>(choices: readonly Choice[], noun: string) {
  return z
    .array(z.enum(choices))
    .max(LIST_LENGTH_MAX)
    .superRefine(
      (listed, context) => {
        if (listed.length === 0)
          context.addIssue(requestIssue('too_short', `Must name at least one ${noun}.`));
        for (const choice of choices) {
          const second = listed.indexOf(choice, listed.indexOf(choice) + 1);
          if (second > 0)
            context.addIssue(requestIssue('duplicate', `${quote(choice)} is listed twice.`, [second]));
        }
      },
      { when: ({ value }) => Array.isArray(value) },
    )
    .meta({ minItems: 1, maxItems: choices.length, uniqueItems: true });
}

export const distinctPlatforms = distinct(platforms, 'platform');

/** Fields that several requests share. */
export const ruleFilter = text({ max: 100, description: 'Only matches of this rule.' });
const rulesMax = 100;
export const rulesFilter = z
  .array(text({ max: 100, description: 'Id of a rule.' }))
  .max(10 * rulesMax)
  .superRefine(
    (listed, context) => {
      if (listed.length === 0) context.addIssue(requestIssue('too_short', 'Must name at least one rule.'));
      if (listed.length > rulesMax)
        context.addIssue(requestIssue('too_long', `Must name at most ${rulesMax} rules.`));
      listed.forEach((id, index) => {
        if (listed.indexOf(id) < index)
          context.addIssue(requestIssue('duplicate', `${quote(id)} is listed twice.`, [index]));
      });
    },
    { when: ({ value, issues }) => Array.isArray(value) && issues.length === 0 },
  )
  .nullable()
  .optional()
  .meta({
    minItems: 1,
    maxItems: rulesMax,
    uniqueItems: true,
    description: 'Only matches of these rules; null or absent: of every rule.',
  });
export const platformFilter = platformSchema
  .optional()
  .meta({ description: 'Only matches on this platform.' });
export const pageLimit = integer(1, 100).default(50).meta({ description: 'Entries per page.' });
/** For lists that are short in nearly every account: without parameters they are complete. */
export const longPageLimit = integer(1, 100).default(100).meta({ description: 'Entries per page.' });
export const matchLimit = integer(1, 100).default(50).meta({
  description: 'Number of matches to return; fewer when they are large: an answer ends at about 1 MiB.',
});
export const pageCursor = text({ max: 1_024, description: '`next_cursor` of the previous page.' }).optional();
