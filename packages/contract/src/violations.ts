import type { z } from 'zod';

const violationCodes = [
  'required',
  'unknown_field',
  'wrong_type',
  'too_short',
  'too_long',
  'invalid_value',
  'duplicate',
  'missing_override',
  'extra_override',
] as const;

export type ViolationCode = (typeof violationCodes)[number];

/** What is wrong with one field of a request; the wire form may add `span` and `fixes`. */
export interface RequestViolation {
  readonly field: string;
  readonly code: ViolationCode;
  readonly message: string;
}

export const VIOLATIONS_MAX = 20;
const MESSAGE_LENGTH_MAX = 300;
const QUOTED_LENGTH_MAX = 60;

/** The caller's text inside one of our sentences: bounded, and quoted so that it cannot pose as ours. */
export function quote(text: string): string {
  return JSON.stringify(bounded(text, QUOTED_LENGTH_MAX));
}

/** The violations of a request that its schema refused, at most 20, in the order of the schema's fields. */
export function violationsOf(error: z.core.$ZodError): RequestViolation[] {
  return error.issues.slice(0, VIOLATIONS_MAX).map(violationAt);
}

export function violationAt(issue: z.core.$ZodIssue): RequestViolation {
  return { field: fieldOf(issue.path), ...describe(issue) };
}

function describe(issue: z.core.$ZodIssue): { code: ViolationCode; message: string } {
  const [code, message] = codeAndMessage(issue);
  return { code, message: bounded(message, MESSAGE_LENGTH_MAX) };
}

function codeAndMessage(issue: z.core.$ZodIssue): [ViolationCode, string] {
  switch (issue.code) {
    case 'custom':
      return [violationCode(issue.params?.['code']), issue.message];
    case 'invalid_type':
      return wrongType([issue]);
    case 'invalid_value':
      return ['invalid_value', `Must be ${issue.values.map((value) => quote(String(value))).join(' or ')}.`];
    case 'too_big':
      return ['too_long', 'Has far too many entries.'];
    case 'unrecognized_keys':
      return ['unknown_field', `Unknown: ${issue.keys.slice(0, 3).map(quote).join(', ')}.`];
    case 'invalid_union':
      return wrongTypeOfUnion(issue.errors.flat()) ?? ['invalid_value', 'Not a valid value.'];
    case 'too_small':
    case 'invalid_format':
    case 'not_multiple_of':
    case 'invalid_key':
    case 'invalid_element':
      return ['invalid_value', 'Not a valid value.'];
  }
}

function wrongType(issues: readonly z.core.$ZodIssueInvalidType[]): [ViolationCode, string] {
  const expected = issues.map((issue) => typeNames[issue.expected] ?? issue.expected);
  return ['wrong_type', `Must be ${expected.join(' or ')}.`];
}

/** Null if the value has the type of one member and fails for another reason. */
function wrongTypeOfUnion(issues: readonly z.core.$ZodIssue[]): [ViolationCode, string] | null {
  const wrongTypes = issues.filter((issue) => issue.code === 'invalid_type');
  return wrongTypes.length > 0 && wrongTypes.length === issues.length ? wrongType(wrongTypes) : null;
}

function violationCode(code: unknown): ViolationCode {
  return violationCodes.find((known) => known === code) ?? 'invalid_value';
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  array: 'an array',
  object: 'a JSON object',
  record: 'a JSON object',
};

/** `overrides.x`, `platforms[1]`; empty for the request as a whole. Strange keys are quoted. */
function fieldOf(path: readonly PropertyKey[]): string {
  let field = '';
  for (const step of path) {
    if (typeof step === 'number') field += `[${step}]`;
    else if (/^\w{1,60}$/.test(String(step))) field += field === '' ? String(step) : `.${String(step)}`;
    else field += `[${quote(String(step))}]`;
  }
  return field;
}

function bounded(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  // toWellFormed: the cut may fall between the halves of a surrogate pair.
  return `${text.slice(0, lengthMax - 1).toWellFormed()}…`;
}
