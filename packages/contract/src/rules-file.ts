import { z } from 'zod';
import { budget } from './budgets.ts';
import type { JsonSchema } from './json-schemas.ts';
import { allPlatforms } from './platforms.ts';
import { alsoWhenFieldsFail, requestIssue, requestObject } from './request-fields.ts';
import { ruleExamplesOn } from './rule-examples.ts';
import {
  acceptSuspicious,
  badManagedName,
  expiresAt,
  managedName,
  managedPattern,
  overridesOn,
  platformOptions,
  ruleAlerts,
  ruleIntent,
  ruleName,
  ruleRelevance,
} from './rule-fields.ts';
import { quote, type RequestViolation, violationAt } from './violations.ts';

function needsValue(value: unknown, context: z.core.$RefinementCtx): void {
  if (context.issues.length > 0) return;
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  if (isEmpty)
    context.addIssue(
      requestIssue('required', `Needs a value for at least one of ${allPlatforms.map(quote).join(', ')}.`),
    );
}

/** A rule in a rules file. It is on the platforms that have an override. */
const fileRule = requestObject(
  {
    name: ruleName.optional().meta({ description: 'Name of the rule, for people. Default: its key.' }),
    intent: ruleIntent,
    overrides: overridesOn(allPlatforms).superRefine(needsValue, alsoWhenFieldsFail).meta({
      description: "The rule in each platform's own syntax: what has no entry is not watched.",
      minProperties: 1,
    }),
    options: platformOptions.optional(),
    accept_suspicious: acceptSuspicious,
    expires_at: expiresAt.optional(),
    budget: budget.optional(),
    examples: ruleExamplesOn(allPlatforms).optional(),
    relevance: ruleRelevance.optional(),
    alerts: ruleAlerts.optional(),
  },
  'a rule',
);

/** Rules as code: what `earshot plan`, `earshot apply` and `earshot test` read. */
export const rulesFileSchema = requestObject(
  {
    set: managedName(
      'Names the rules that this file owns. It stays the same when the file is moved; no other file of the account may use it.',
    ),
    rules: z
      .record(z.string(), fileRule)
      .superRefine((rules, context) => {
        for (const key of Object.keys(rules ?? {}))
          if (!managedPattern.test(key)) context.addIssue({ ...badManagedName(), path: [key] });
      }, alsoWhenFieldsFail)
      .meta({
        description:
          'The rules, by their key. A rule keeps its identity and its matches as long as its key stays the same.',
        propertyNames: { pattern: managedPattern.source, maxLength: 100 },
      }),
  },
  'a rules file',
);

export type RulesFile = z.output<typeof rulesFileSchema>;
export type FileRule = RulesFile['rules'][string];

export type RulesFileReading =
  | { readonly file: RulesFile }
  | { readonly problems: readonly (RequestViolation & { readonly path: readonly PropertyKey[] })[] };

/** What the file says, or everything that is wrong with it. */
export function readRulesFile(value: unknown): RulesFileReading {
  const parsed = rulesFileSchema.safeParse(value);
  const issues = [...(parsed.error?.issues ?? []), ...droppedRules(value)];
  if (parsed.success && issues.length === 0) return { file: parsed.data };
  return { problems: issues.map((issue) => ({ ...violationAt(issue), path: issue.path })) };
}

/** The schema of a record passes over a key `__proto__`: the rule would silently not be there. */
function droppedRules(value: unknown): z.core.$ZodIssue[] {
  const file = z.looseObject({
    rules: z.custom<object>((rules) => typeof rules === 'object' && rules !== null),
  });
  const { data } = file.safeParse(value);
  if (data === undefined || !Object.hasOwn(data.rules, '__proto__')) return [];
  return [{ ...badManagedName(), path: ['rules', '__proto__'] }];
}

/** For editors. */
export function rulesFileJsonSchema(): JsonSchema {
  return {
    title: 'Rules of Earshot as code',
    ...z.toJSONSchema(rulesFileSchema, { io: 'input' }),
  };
}
