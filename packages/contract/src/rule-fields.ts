import { closest } from '@earshot/query';
import { z } from 'zod';
import { ruleId, ruleTypeSchema, timestamp } from './answer-fields.ts';
import { budgetState } from './budgets.ts';
import { onEachPlatform, type Platform, perPlatform, platformSchema, platforms } from './platforms.ts';
import {
  alsoWhenFieldsFail,
  eachUnknownKey,
  integer,
  type RequestIssue,
  requestIssue,
  requestObject,
  requestTime,
  text,
} from './request-fields.ts';
import { ruleExamples } from './rule-examples.ts';
import { quote } from './violations.ts';

/** The platforms' own limits come from their validators; this one only bounds the work. */
const OVERRIDE_LENGTH_MAX = 4_096;

const override = text({ max: OVERRIDE_LENGTH_MAX, description: "The rule in the platform's own syntax." });

export const overrides = z
  .strictObject(onEachPlatform(() => override.optional()))
  .superRefine((_, context) => {
    context.issues = eachUnknownKey(context.issues, unknownOverride);
  }, alsoWhenFieldsFail)
  .meta({ description: 'Exactly one entry for each listed platform.' });

function unknownOverride(key: string): RequestIssue {
  const meant = closest(key, platforms);
  const hint = `Did you mean ${meant === null ? platforms.map(quote).join(' or ') : quote(meant)}?`;
  return requestIssue('extra_override', `${quote(key)} is not a platform. ${hint}`, [key]);
}

export const ruleName = text({ max: 200, description: 'Name of the rule, for people.' });
export const ruleIntent = text({ max: 2_000, description: 'What the rule is for; context for agents.' });
export const expiresAt = requestTime.nullable().meta({
  description: 'When the rule is paused automatically: a time in the future, or null for never.',
});

export const acceptDoubts = z.boolean().optional().meta({
  description:
    'Register the values as they are, although they have doubts: findings that a platform accepts but that are almost certainly mistakes. Errors are still refused.',
});

export const acceptEstimate = z.boolean().optional().meta({
  description:
    'Continue although the estimated cost is above the budget of the rule, the key or the account.',
});

const firehoseOptions = z.strictObject({
  quality: z.boolean().optional().meta({
    description:
      'Default true: Firehose leaves out pages that it considers low quality, including URLs with a query, lists of articles, and pages older than seven days.',
  }),
  nsfw: z.boolean().optional().meta({ description: 'Default false: Firehose leaves out adult pages.' }),
});

/** Only platforms that have options are named. */
export const platformOptions = z
  .strictObject({ firehose: firehoseOptions.optional().meta({ description: 'Of Firehose.' }) })
  .meta({
    description: "What a platform is told besides the rule. What is left out has the platform's default.",
  });

export type PlatformOptions = z.output<typeof platformOptions>;

export const managedPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export const managedName = (description: string) =>
  text({ max: 100, description })
    .superRefine((name, context) => {
      if (!managedPattern.test(name)) context.addIssue(badManagedName());
    })
    .meta({ pattern: managedPattern.source });

export function badManagedName(): RequestIssue {
  const message =
    'Must be up to 100 letters, digits, dots, dashes and underscores, and begin with one of the first two.';
  return requestIssue('invalid_value', message);
}

/** Who keeps a rule as code: the file's set, and the rule's key in it. Together unique among the account's rules. */
export const managedBy = requestObject({
  set: managedName('The set that the rule belongs to: the `set` of a rules file.'),
  key: managedName('What the rule is called in its set.'),
}).meta({
  description:
    'For rules that are kept as code. `earshot apply` changes and deletes only the rules of its own set; a pair is given to one rule at a time.',
});

export const ifVersion = integer(1, 2_147_483_647).optional().meta({
  description:
    'Only if the rule still has this version; otherwise `failed_precondition`, and nothing is done.',
});

const withOverrides = z.looseObject({ platforms: z.array(platformSchema), overrides: z.looseObject({}) });

/** Takes anything: it also runs on a request whose fields are missing or wrong. */
export function overrideMismatches(request: unknown): RequestIssue[] {
  const parts = withOverrides.safeParse(request);
  if (!parts.success) return [];
  const { platforms: listed, overrides } = parts.data;
  return platforms.flatMap((platform) => {
    const given = Object.hasOwn(overrides, platform);
    if (given === listed.includes(platform)) return [];
    return [given ? extraOverride(platform) : missingOverride(platform)];
  });
}

function extraOverride(platform: Platform): RequestIssue {
  const message = `${quote(platform)} is not in "platforms": list it there or remove this entry.`;
  return requestIssue('extra_override', message, ['overrides', platform]);
}

function missingOverride(platform: Platform): RequestIssue {
  const message = `${quote(platform)} is in "platforms" and needs a rule here.`;
  return requestIssue('missing_override', message, ['overrides', platform]);
}

const withOptions = z.looseObject({
  platforms: z.array(platformSchema),
  options: z.record(z.string(), z.unknown()),
});

/** Takes anything, as `overrideMismatches`. */
export function optionMismatches(request: unknown): RequestIssue[] {
  const parts = withOptions.safeParse(request);
  if (!parts.success) return [];
  const { platforms: listed, options } = parts.data;
  const others = Object.keys(options).filter((name) => !listed.some((platform) => platform === name));
  return others.map((name) =>
    requestIssue('invalid_value', `${quote(name)} is not in "platforms".`, ['options', name]),
  );
}

const ruleStatus = z.enum(['active', 'pending', 'failed', 'paused']).meta({
  description:
    '`active`: the platform is watched for it. `pending`: it will be shortly. `failed`: the platform refuses it. `paused`: the rule is paused.',
});

export const registration = {
  platform_rule_id: z.string().meta({
    description:
      "The rule's id on the platform, as this account sees it: stable while the rule has this value, and in the platform's form. The operator knows the id that the platform itself uses.",
  }),
  translated_value: z.string().meta({ description: 'The value registered on the platform.' }),
  status: ruleStatus,
};

const rulePlatformSchema = z.strictObject({
  ...registration,
  value: z.string().meta({ description: 'The value as it was written.' }),
  options: z
    .record(z.string(), z.boolean())
    .optional()
    .meta({ description: "The options that differ from the platform's default; absent where none does." }),
  heard: z.enum(['live', 'starting', 'not_heard']).meta({
    description:
      'Whether the rule is heard right now. `starting`: the platform has it, and does not heed it yet. `not_heard`: see `heard_reason`.',
  }),
  heard_reason: z.string().nullable().meta({
    description:
      'Why it is not heard: `paused`, `refused`, `not_registered`, or the state of its source, as in ListSources.',
  }),
  heard_from: timestamp.optional().meta({ description: 'While it is starting: when it will be heard.' }),
  rule_type: ruleTypeSchema,
  active_since: timestamp
    .nullable()
    .meta({ description: 'Since when the platform has it; null if it does not.' }),
  last_match_at: timestamp
    .nullable()
    .meta({ description: 'When its last match was stored; null before the first.' }),
  match_count: z.int().min(0).meta({ description: 'How many matches it has had on the platform.' }),
});

export const ruleSchema = z
  .strictObject({
    id: ruleId,
    name: z.string().meta({ description: 'Name of the rule, for people.' }),
    intent: z.string().meta({ description: 'What the rule is for; context for agents.' }),
    created_at: timestamp.meta({ description: 'When it was created.' }),
    updated_at: timestamp.meta({ description: 'When it last changed.' }),
    version: z.int().min(1).meta({ description: 'Grows with each change of the rule.' }),
    state: z
      .enum(['active', 'paused', 'failed'])
      .meta({ description: '`failed`: a platform refuses it; see `platforms`.' }),
    expires_at: timestamp.nullable().meta({
      description:
        'When the rule is paused automatically; a paused rule with a time in the past has expired.',
    }),
    budget: budgetState.nullable().meta({
      description: "The rule's own budget; null without one. The operator's default may apply then.",
    }),
    paused_for: z
      .strictObject({
        reason: z
          .enum(['budget', 'suspension'])
          .meta({ description: 'A budget is spent, or the account is suspended.' }),
        resumes_at: timestamp.nullable().meta({ description: 'Null when it does not resume by itself.' }),
      })
      .nullable()
      .meta({
        description:
          'Why the service has paused the rule, and when it resumes it; null while the rule is not paused, or when it was paused by a key or has expired.',
      }),
    examples: ruleExamples.nullable().meta({ description: 'Example items for the rule.' }),
    managed_by: managedBy.nullable().meta({ description: 'Null for a rule that is not kept as code.' }),
    platforms: perPlatform(rulePlatformSchema),
  })
  .meta({ description: 'A rule of the account.' });

export type Rule = z.output<typeof ruleSchema>;
