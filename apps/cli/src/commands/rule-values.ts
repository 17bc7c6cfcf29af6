import { onEachPlatform, type Platform, allPlatforms as platforms } from '@earshot/contract/platforms';
import type { Rule } from '@earshot/sdk';
import { usageFailure } from '../failure.ts';
import { flag, oneOf, text, usdOrNone } from '../options.ts';
import { onPlatforms } from '../platforms.ts';

/** The options with the queries: `--x`, `--firehose`, `--bluesky`. */
export const ruleValues = onEachPlatform(
  (platform, { title }) => text('<query>', `query for ${title}: see \`earshot syntax ${platform}\``),
  platforms,
);

export const acceptSuspicious = flag('register the query although it is very likely a mistake');

const onOff = ['on', 'off'] as const;

/** Options of Firehose besides the query. */
export const firehoseOptions = {
  'firehose-quality': oneOf(
    onOff,
    "Firehose's quality filter; off also matches old pages and URLs with a query string",
  ),
  'firehose-nsfw': oneOf(onOff, 'adult pages from Firehose'),
};

type OnOff = (typeof onOff)[number] | undefined;

/** The `options` of a request, if any is given. */
export function readOptions(typed: { 'firehose-quality': OnOff; 'firehose-nsfw': OnOff }) {
  const { 'firehose-quality': quality, 'firehose-nsfw': nsfw } = typed;
  if (quality === undefined && nsfw === undefined) return {};
  return {
    options: {
      firehose: {
        ...(quality !== undefined && { quality: quality === 'on' }),
        ...(nsfw !== undefined && { nsfw: nsfw === 'on' }),
      },
    },
  };
}

/** The `platforms` and `overrides` of a request, from the queries that are given. */
export function readOverrides(typed: Readonly<Record<Platform, string | undefined>>) {
  const queries = onPlatforms(typed);
  if (queries.platforms.length > 0) return queries;
  const options = platforms.map((platform) => `--${platform} <query>`).join(', ');
  throw usageFailure(`Specify at least one of ${options}.`);
}

export const alerts = oneOf(
  ['low', 'medium', 'high', 'off'],
  'report spikes and drops of its matches as notices',
);

/** The `alerts` of a request, if the option is given. */
export function readAlerts(typed: { readonly alerts: Rule['alerts'] | 'off' | undefined }) {
  if (typed.alerts === undefined) return {};
  return { alerts: typed.alerts === 'off' ? null : typed.alerts };
}

/** The options of `relevance`. */
export const judgeOptions = {
  judge: oneOf(onOff, 'whether the judge checks new matches against the intent'),
  criteria: text('<text; text>', 'what a relevant item fulfils: up to 5 sentences, separated by semicolons'),
  'accept-unproven': oneOf(
    onOff,
    'leave out what the judge rejects before 60 matches are labelled relevant (default off)',
  ),
  'judge-budget': usdOrNone('the most that the judge may cost for the rule per UTC day'),
};

interface JudgeOptions {
  readonly judge: OnOff;
  readonly criteria: string | undefined;
  readonly 'accept-unproven': OnOff;
  readonly 'judge-budget': number | null | undefined;
}

/** Whether any of them is given. */
export function hasJudgeOptions(typed: JudgeOptions): boolean {
  return Object.keys(judgeOptions).some((name) => typed[name as keyof JudgeOptions] !== undefined);
}

/** The `relevance` of a request: what is given, in place of what the rule has. */
export function readRelevance(typed: JudgeOptions, current: Rule['relevance']) {
  const { judge, criteria, 'accept-unproven': acceptsUnproven, 'judge-budget': usdPerDay } = typed;
  return {
    ...(current ?? { judge: true }),
    ...(judge !== undefined && { judge: judge === 'on' }),
    ...(criteria !== undefined && {
      criteria: criteria
        .split(';')
        .map((one) => one.trim())
        .filter(Boolean),
    }),
    ...(acceptsUnproven !== undefined && { accept_unproven: acceptsUnproven === 'on' }),
    ...(usdPerDay !== undefined && { usd_per_day: usdPerDay }),
  };
}
