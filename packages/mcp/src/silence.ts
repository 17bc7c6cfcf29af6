import type { Coverage, Listening } from '@earshot/contract';
import { EarshotError, type Rule } from '@earshot/sdk';
import type { ToolCall } from './tool.ts';
import { allReaders } from './tools/readers.ts';

/** Why there are no matches, as far as known, and what to do. It has no untrusted content. */
export interface Silence {
  readonly why: string[];
  readonly try_next: string;
}

export interface Silent {
  readonly ruleId?: string | undefined;
  readonly coverage: Coverage | null;
  /** The request covers only a part: a time, a cursor, a platform, or the unacknowledged matches of a reader. */
  readonly narrowed: boolean;
  readonly reader?: string | undefined;
}

export async function explainSilence(call: ToolCall, silent: Silent, nowMs: number): Promise<Silence> {
  const known = await readRules(call, silent.ruleId);
  if (known === 'not_allowed')
    return { why: gapsOf(silent.coverage), try_next: 'The key cannot read rules: call get_coverage.' };
  if (known === 'none') return { why: ['The account has no rule yet.'], try_next: 'create_rule' };
  if (known === 'some' && silent.reader !== undefined)
    return await silenceOfReader(call, silent.reader, nowMs);
  if (known === 'some')
    return {
      why: [silent.narrowed ? 'No match fits your request.' : 'No rule of the account has a match.'],
      try_next:
        'list_rules, then call again with a rule_id: the answer then shows whether that rule is live, and since when.',
    };
  return silenceOfRule(known, silent, nowMs);
}

async function silenceOfReader(call: ToolCall, name: string, nowMs: number): Promise<Silence> {
  const reader = (await allReaders(call)).find((one) => one.name === name);
  const since = reader?.acknowledged_at ?? reader?.created_at;
  const place =
    reader?.acknowledged_at === null ? 'has acknowledged nothing since it was created' : 'last acknowledged';
  return {
    why: [
      ...(since === undefined
        ? []
        : [`The reader ${place} ${ago(since, nowMs)}, and nothing new has come since.`]),
      'It gives only matches that are new to it, and a reader begins with new matches unless it is created with start: "oldest".',
    ],
    try_next: 'list_matches shows earlier matches; else wait_for_matches again.',
  };
}

/** Without the scope for rules, the explanation is shorter. */
async function readRules(
  { earshot, signal }: ToolCall,
  ruleId: string | undefined,
): Promise<Rule | 'none' | 'some' | 'not_allowed'> {
  try {
    if (ruleId !== undefined) return await earshot.getRule({ rule_id: ruleId }, { signal });
    const { rules } = await earshot.listRules({ limit: 1 }, { signal });
    return rules.length === 0 ? 'none' : 'some';
  } catch (error) {
    if (error instanceof EarshotError && error.code === 'permission_denied') return 'not_allowed';
    throw error;
  }
}

/** Too short to judge a rule that matches only sometimes. */
const youngMs = 10 * 60_000;

export function silenceOfRule(rule: Rule, { coverage, narrowed }: Silent, nowMs: number): Silence {
  const watched = Object.entries(rule.platforms);
  const listening = watched.flatMap(([, platform]) => platform?.listening ?? []);
  const total = watched.reduce((sum, [, platform]) => sum + (platform?.match_count ?? 0), 0);
  const gaps = gapsOf(coverage);
  const why = [
    `The rule was created ${ago(rule.created_at, nowMs)} and is ${rule.state}.`,
    ...watched.flatMap(([name, platform]) => (platform ? [describe(name, platform.listening, nowMs)] : [])),
    ...(total > 0 && narrowed ? [`It has ${total} matches outside of your request.`] : []),
    ...gaps,
  ];
  return { why, try_next: nextStep(rule, { listening, total, gaps, narrowed, nowMs }) };
}

interface Situation {
  readonly listening: readonly Listening[];
  readonly total: number;
  readonly gaps: readonly string[];
  readonly narrowed: boolean;
  readonly nowMs: number;
}

function nextStep(rule: Rule, { listening, total, gaps, narrowed, nowMs }: Situation): string {
  if (rule.state === 'paused') {
    const expired = rule.expires_at !== null && Date.parse(rule.expires_at) <= nowMs;
    return expired ? 'update_rule with a new expires_at, then resume_rule.' : 'resume_rule';
  }
  const refused = Object.values(rule.platforms).some((platform) => platform?.status === 'failed');
  if (rule.state === 'failed' || refused)
    return 'validate_rule and update_rule: a platform refuses the query.';
  if (listening.every(({ state }) => state === 'down'))
    return 'list_notices may say why nothing is received. Then wait_for_matches.';
  if (listening.every((one) => isYoung(one, nowMs)))
    return 'wait_for_matches: it is too early to judge the rule.';
  if (total > 0 && narrowed) return 'Request a longer period, or wait_for_matches.';
  if (gaps.length > 0) return 'get_coverage shows details of the gaps. Then wait_for_matches.';
  return 'There was no gap: the rule may be too narrow. Drop a filter, or join more words with OR (platform_syntax), and update_rule.';
}

function isYoung({ state, since }: Listening, nowMs: number): boolean {
  return state !== 'live' || since === null || nowMs - Date.parse(since) < youngMs;
}

function describe(name: string, { state, reason, since }: Listening, nowMs: number): string {
  const ofTime = since === null ? '' : ` since ${since} (${ago(since, nowMs)})`;
  switch (state) {
    case 'live':
      return `On ${name} it has been live${ofTime}.`;
    case 'starting':
      return `On ${name} it is starting: the platform has the rule and applies it from about ${since}.`;
    case 'down':
      return `On ${name} nothing is received${ofTime}: ${reason}.`;
    case 'paused':
      return `On ${name} it is paused.`;
  }
}

const gapsShown = 3;

function gapsOf(coverage: Coverage | null): string[] {
  const open = coverage?.gaps.filter(({ repaired }) => !repaired) ?? [];
  const shown = open
    .slice(-gapsShown)
    .map(({ platform, from, to, reason }) => `Gap on ${platform} from ${from} to ${to ?? 'now'}: ${reason}.`);
  return open.length > gapsShown ? [`${open.length} gaps; the last ones:`, ...shown] : shown;
}

function ago(time: string, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(time)) / 1_000));
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min ago`;
  return seconds < 172_800
    ? `${Math.round(seconds / 3_600)} h ago`
    : `${Math.round(seconds / 86_400)} days ago`;
}
