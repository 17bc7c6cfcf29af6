import { closest } from '@earshot/query';
import { z } from 'zod';
import { ruleId, ruleTypeSchema, timestamp } from './answer-fields.ts';
import { budgetState, budgetTerms } from './budgets.ts';
import { onEachPlatform, type Platform, perPlatform, platformSchema, platforms } from './platforms.ts';
import {
  alsoWhenFieldsFail,
  distinctPlatforms,
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

export function overridesOn(names: readonly Platform[]) {
  return z
    .strictObject(onEachPlatform(() => override.optional(), names))
    .superRefine((_, context) => {
      context.issues = eachUnknownKey(context.issues, (key) => unknownOverride(key, names));
    }, alsoWhenFieldsFail)
    .meta({ description: 'One query for each listed platform.' });
}

export const overrides = overridesOn(platforms);

function unknownOverride(key: string, names: readonly Platform[]): RequestIssue {
  const meant = closest(key, names);
  const hint = `Did you mean ${meant === null ? names.map(quote).join(' or ') : quote(meant)}?`;
  return requestIssue('extra_override', `${quote(key)} is not a platform. ${hint}`, [key]);
}

export const ruleName = text({ max: 200, description: 'Name of the rule, for people.' });
export const ruleIntent = text({ max: 2_000, description: 'What the rule is for; context for agents.' });
export const expiresAt = requestTime.nullable().meta({
  description: 'When the rule is paused automatically: a time in the future, or null for never.',
});

const criteriaMax = 5;

export const ruleRelevance = requestObject(
  {
    judge: z.boolean().meta({
      description: 'Whether the judge says of each new match if it is relevant to the intent.',
    }),
    criteria: z
      .array(text({ max: 300, description: 'What a relevant item fulfils, in one sentence.' }))
      // Far beyond the limit zod gives up before it looks at the entries.
      .max(100)
      .superRefine((criteria, context) => {
        if (criteria.length <= criteriaMax) return;
        const message = `Must have at most ${criteriaMax} entries; it has ${criteria.length}.`;
        context.addIssue(requestIssue('too_long', message));
      })
      .default([])
      .meta({ description: 'What the judge checks besides the intent.', maxItems: criteriaMax }),
    accept_unproven: z.boolean().default(false).meta({
      description:
        'Leave out what the judge rejects although the rule has fewer than 60 matches labelled `relevant`: nothing then shows how much of it is wrongly rejected.',
    }),
    usd_per_day: z.number().positive().max(10_000).nullable().default(null).meta({
      description:
        'The most that the judge may cost for this rule per UTC day; null: only the limit of the operator.',
    }),
  },
  '"relevance"',
).meta({ description: 'Whether a judge, a model that the operator set up, checks the matches of the rule.' });

export type RuleRelevance = z.output<typeof ruleRelevance>;

/** From the fewest alarms to the most. */
const alertSensitivities = ['low', 'medium', 'high'] as const;
export type AlertSensitivity = (typeof alertSensitivities)[number];

export const ruleAlerts = z.enum(alertSensitivities).nullable().meta({
  description:
    'How sensitively Earshot reports spikes and drops of the matches as notices: `low` only large ones, `high` also small ones that may be chance. Null: not at all.',
});

export const acceptSuspicious = z.boolean().optional().meta({
  description:
    'Register the queries although they have suspicious findings: the platform accepts them, but they are almost certainly mistakes. Errors are still refused.',
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
  .strictObject({ firehose: firehoseOptions.optional().meta({ description: 'Options of Firehose.' }) })
  .meta({
    description:
      "Platform options besides the query. Options that you leave out have the platform's default.",
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
    'For rules that are kept as code. `earshot apply` changes and deletes only rules of the set in its file. Only one rule at a time can have a pair.',
});

export const ifVersion = integer(1, 2_147_483_647).optional().meta({
  description:
    'Only if the rule still has this version; otherwise `failed_precondition`, and nothing is done.',
});

export const optionalPlatforms = distinctPlatforms.optional().meta({
  description: 'Platforms of the rule. Default: the platforms that `overrides` names.',
});

/** The platforms of a request that may leave out `platforms`. */
export function listedPlatforms(request: {
  readonly platforms?: readonly Platform[] | undefined;
  readonly overrides: Readonly<Partial<Record<Platform, string | undefined>>>;
}): readonly Platform[] {
  return request.platforms ?? platforms.filter((platform) => request.overrides[platform] !== undefined);
}

const withOverrides = z.looseObject({
  platforms: z.array(platformSchema).optional(),
  overrides: z.looseObject({}),
});

/** For requests without required `platforms`. Accepts any value: it also runs on a request with wrong fields. */
export function emptyOverrides(request: unknown): RequestIssue[] {
  const { data } = withOverrides.safeParse(request);
  if (data === undefined || data.platforms !== undefined || Object.keys(data.overrides).length > 0) return [];
  return [requestIssue('required', 'Needs a query for at least one platform.', ['overrides'])];
}

/** Accepts any value: it also runs on a request whose fields are missing or wrong. */
export function overrideMismatches(request: unknown): RequestIssue[] {
  const parts = withOverrides.safeParse(request);
  if (!parts.success) return [];
  const { platforms: listed, overrides } = parts.data;
  if (listed === undefined) return [];
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
  const message = `${quote(platform)} is in "platforms" and needs a query here.`;
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
    '`active`: registered on the platform. `pending`: will be registered shortly. `failed`: the platform refuses it. `paused`: the rule is paused.',
});

const registration = {
  platform_rule_id: z.string().meta({
    description:
      "The rule's id on the platform, as this account sees it: stable while the rule has this query, and in the platform's form. The operator knows the id that the platform itself uses.",
  }),
  translated_value: z.string().meta({ description: 'The query registered on the platform.' }),
  status: ruleStatus,
};

const listeningSchema = z
  .strictObject({
    state: z.enum(['live', 'starting', 'down', 'paused']).meta({
      description:
        '`live`: matches arrive. `starting`: the platform has the rule but does not apply it yet. `down`: nothing arrives; see `reason`. `paused`: the rule is paused.',
    }),
    reason: z.string().nullable().meta({
      description:
        'Why the state is `down`: `refused`, `not_registered`, or the state of the source, as in ListSources. Otherwise null.',
    }),
    since: timestamp.nullable().meta({
      description:
        'When this state began. While `starting`, the time at which the platform is expected to apply the rule. Null: not recorded.',
    }),
  })
  .meta({ description: 'Whether Earshot receives the items that match the rule right now.' });

export type Listening = z.output<typeof listeningSchema>;

export const rulePlatformSchema = z.strictObject({
  ...registration,
  value: z.string().meta({ description: 'The query as the caller sent it.' }),
  options: z
    .record(z.string(), z.boolean())
    .optional()
    .meta({ description: "The options that differ from the platform's default; absent where none does." }),
  listening: listeningSchema,
  rule_type: ruleTypeSchema,
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
    budget: budgetTerms
      .nullable()
      .meta({ description: "The rule's own budget. Null: the rule has none; see `effective_budget`." }),
    effective_budget: budgetState.nullable().meta({
      description:
        "The budget that limits the rule: its own, or the operator's default if it has none. Null: no budget applies to the rule itself.",
    }),
    pause: z
      .strictObject({
        reason: z.enum(['request', 'expired', 'budget', 'default_budget', 'suspension']).meta({
          description:
            '`request`: PauseRule. `expired`: `expires_at` has passed. `budget`: a budget of the rule, its key or the account is reached. `default_budget`: the default budget of the operator paused the rule in a second period, so it stays paused. Set a `budget`, or resume the rule in the next period. `suspension`: the operator suspended the account.',
        }),
        resumes_at: timestamp
          .nullable()
          .meta({ description: 'When the rule resumes automatically; null if it does not.' }),
      })
      .nullable()
      .meta({ description: 'Why the rule is paused; null if it is not.' }),
    examples: ruleExamples.nullable().meta({ description: 'Example items for the rule.' }),
    relevance: ruleRelevance.nullable().meta({ description: 'Null: the judge does not check its matches.' }),
    alerts: ruleAlerts,
    managed_by: managedBy.nullable().meta({ description: 'Null for a rule that is not kept as code.' }),
    platforms: perPlatform(rulePlatformSchema),
  })
  .meta({ description: 'A rule of the account.' });

export type Rule = z.output<typeof ruleSchema>;
