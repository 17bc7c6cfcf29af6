import {
  type Budget,
  budgetGrammar,
  formatBudget,
  type Listening,
  onEachPlatform,
  parseBudget,
  parseTrial,
  type Trial,
  trialGrammar,
} from '@earshot/contract';
import type { Requests, Rule } from '@earshot/sdk';
import { z } from 'zod';
import { unhidden } from './content/visible.ts';
import { perPlatform, platform } from './per-platform.ts';
import { readTimes } from './times.ts';
import { InvalidArguments } from './tool.ts';

/** The fields of arguments and answers about rules. The API checks lengths and contradictions. */
export const ruleId = z.string().meta({ description: 'rule_… from list_rules' });

export const platforms = z.array(platform);

const asOfCreateRule = { description: 'As of create_rule' };

/** Only create_rule describes the queries in detail. */
export const draftOverrides = z
  .strictObject(onEachPlatform(() => z.string().optional()))
  .meta(asOfCreateRule);

export const overrides = z
  .strictObject(
    onEachPlatform((_, { title, sampleValue }) =>
      z
        .string()
        .optional()
        .meta({ description: `In ${title} syntax, such as ${sampleValue}` }),
    ),
  )
  .meta({ description: 'One query per platform, in its own syntax (platform_syntax)' });

export const options = z.strictObject({
  firehose: z
    .strictObject({
      quality: z.boolean().optional().meta({ description: 'false: also low quality, old pages' }),
    })
    .optional(),
});

/** Flatter than in the API, because agents read it; typed, because some models can fill only what is. */
export const examples = z
  .array(
    z.strictObject({
      platform,
      match: z.boolean(),
      text: z.string().optional(),
      title: z.string().optional(),
      url: z.string().optional(),
      author: z.string().optional().meta({ description: 'Handle' }),
    }),
  )
  .meta({ description: 'Items that the queries must match, or must not' });

/** The same, described by create_rule. */
export const draftExamples = examples.meta(asOfCreateRule);

type Examples = NonNullable<Requests['CreateRule']['examples']>;

/** In the form of the API. */
export function readExamples(given: z.output<typeof examples> | undefined): Examples | undefined {
  if (given === undefined) return undefined;
  const those = (wanted: boolean) =>
    given
      .filter(({ match }) => match === wanted)
      .map(({ platform: of, author, text, title, url }) => ({
        platform: of,
        payload: { text, title, url, author: author === undefined ? undefined : { handle: author } },
      }));
  return { must_match: those(true), must_not_match: those(false) };
}

export const acceptSuspicious = z
  .boolean()
  .optional()
  .meta({ description: 'Only if your user wants exactly this query although it is suspicious' });

export const acceptEstimate = z
  .boolean()
  .optional()
  .meta({ description: 'Only if your user agrees to the cost' });

/** One text, as on the command line, because all agents would read the schema of its parts. */
export const budget = z.string().meta({ description: 'usd=5/day, matches=1000/month: then it pauses' });

export const trial = z
  .string()
  .meta({ description: '30m,matches=50: run briefly, then preview_rule knows its volume' });

/** Throws if the text is not a trial. */
export function readTrial(text: string | undefined): Trial | undefined {
  if (text === undefined) return undefined;
  const read = parseTrial(text);
  if (read) return read;
  const message = `Must look like ${trialGrammar}: up to 24h and 10000 matches.`;
  throw new InvalidArguments([{ field: 'trial', code: 'invalid_value', message }]);
}

/** Null removes the rule's own budget. Throws if the text is not a budget. */
export function readBudget(text: string | undefined): Budget | null | undefined {
  if (text === undefined) return undefined;
  if (text === 'none') return null;
  const read = parseBudget(text);
  if (read) return read;
  const message = `Must look like ${budgetGrammar}.`;
  throw new InvalidArguments([{ field: 'budget', code: 'invalid_value', message }]);
}

export const expiresAt = z
  .string()
  .meta({ description: '30d, 2027-01-31 or RFC 3339: then it pauses; or never' });

/** In the form of the API. */
export function readExpiry<Args extends { readonly expires_at?: string | undefined }>({
  expires_at: given,
  ...rest
}: Args): Omit<Args, 'expires_at'> & { expires_at?: string | null } {
  if (given === undefined) return rest;
  if (given === 'never') return { ...rest, expires_at: null };
  return { ...rest, ...readTimes({ expires_at: given }, ['expires_at'], 'future') };
}

const registered = z.object({
  status: z.enum(['active', 'pending', 'failed', 'paused']),
  rule_type: z.string(),
  listening: z.string(),
  translated_value: z.string(),
  last_match_at: z.string().nullable(),
  match_count: z.int(),
});

export const ruleOutput = z.object({
  id: z.string(),
  name: z.string(),
  intent: z.string(),
  state: z.enum(['active', 'paused', 'failed']),
  created_at: z.string(),
  updated_at: z.string(),
  expires_at: z.string().nullable(),
  budget: z.string().optional(),
  pause: z.string().optional(),
  managed_by: z.string().nullable().meta({ description: 'Set of a rules file: change it there' }),
  platforms: z.record(z.string(), registered),
});

export function toRuleOutput(rule: Rule): z.output<typeof ruleOutput> {
  return {
    ...rule,
    name: unhidden(rule.name),
    intent: unhidden(rule.intent, { lines: true }),
    budget: budgetWords(rule),
    pause: pauseWords(rule.pause),
    managed_by: rule.managed_by?.set ?? null,
    platforms: perPlatform(rule.platforms, (watched) => ({
      ...watched,
      listening: listeningWords(watched.listening),
      translated_value: unhidden(watched.translated_value),
    })),
  };
}

function budgetWords({ budget, effective_budget }: Rule): string | undefined {
  if (!effective_budget) return undefined;
  const { spent, remaining, reserved, resets_at, forecast: _, ...terms } = effective_budget;
  const whose = budget ? '' : ' (default of the operator)';
  const still = reserved > 0 ? ` (${reserved} may still arrive)` : '';
  return `${formatBudget(terms)}${whose}: ${spent} spent, ${remaining} left${still}${resets_at === null ? '' : ` until ${resets_at}`}`;
}

function pauseWords(pause: Rule['pause']): string | undefined {
  if (!pause) return undefined;
  const { reason, resumes_at } = pause;
  return `${reason}${resumes_at === null ? '' : `, until ${resumes_at}`}`;
}

export function listeningWords({ state, reason, since }: Listening): string {
  const words = [state, reason].filter(Boolean).join(': ');
  if (since === null) return words;
  return `${words}, ${state === 'starting' ? 'expected' : 'since'} ${since}`;
}

/** The fields that a change may affect; get_rule has the others. Short, because all agents read the schema. */
export const changedOutput = z.object({
  id: z.string(),
  state: z.string(),
  // With some of the fields that get_rule describes.
  platforms: z.record(z.string(), z.looseObject({})),
});

export function toChangedOutput(rule: Rule): z.output<typeof changedOutput> {
  const { id, state, platforms: watched } = rule;
  return {
    id,
    state,
    platforms: perPlatform(watched, ({ status, translated_value }) => ({
      status,
      translated_value: unhidden(translated_value),
    })),
  };
}
