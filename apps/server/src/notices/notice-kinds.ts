import {
  type Budget,
  type Notice,
  type NoticeType,
  type Platform,
  parseBudget,
  platformDescriptions,
  type SourceState,
} from '@earshot/contract';
import { whatToDo } from '../upstream/protocol.ts';

/** The data of each type. Amounts of an installation's budget are not disclosed, because they depend on other accounts. */
export interface NoticeData {
  'budget.threshold': BudgetData & { readonly percent: number };
  /** `resumes_at` is null if the rules continue, or do not resume automatically. */
  'budget.reached': ((BudgetData & { readonly resumes_at: string | null }) | InstallationBudgetData) & {
    readonly on_reached: Budget['on_reached'];
    readonly trial?: true;
  };
  'budget.forecast': BudgetData & { readonly reached_at: string };
  'rate.unusual': {
    readonly matches_per_minute: number;
    /** At this time of day, in the last week. */
    readonly usual_per_minute: number;
  };
  'alert.spike': AlertData;
  'alert.drop': AlertData;
  /** The end of an alert, and the matches since it began. */
  'alert.recovered': {
    readonly platform: Platform;
    readonly alert: 'spike' | 'drop';
    readonly since: string;
    readonly until: string;
    readonly matches: number;
  };
  /** Earshot paused the rule, but not because it expired. */
  'rule.paused': { readonly reason: string };
  'rule.expired': { readonly expires_at: string | null; readonly trial?: true };
  /** `message` is the error text of the platform. */
  'rule.refused': { readonly platform: Platform; readonly message: string };
  'source.action_required': {
    readonly platform: Platform;
    readonly state: SourceState;
    readonly message?: string;
  };
  /** `since` is the time at which it last received something. */
  'source.disconnected': {
    readonly platform: Platform;
    readonly state: SourceState;
    readonly since: string;
  };
  'coverage.gap': GapData;
  'coverage.repaired': Omit<GapData, 'reason'> & { readonly via: string | null };
  /** `days` is present in the reminder after a day. */
  'webhook.failing': { readonly failing_since: string; readonly failures: number; readonly days?: number };
  'webhook.disabled': { readonly reason: string };
  /** `message` is a sentence that quotes the answer of the endpoint or mail server. */
  'digest.failing': { readonly number: number; readonly failing_since: string; readonly message: string };
  /** A digest message that was not sent, and its period. */
  'digest.given_up': {
    readonly number: number;
    readonly from: string;
    readonly to: string;
    readonly message: string;
  };
  /** `message` is a sentence that may quote the code of the storage. */
  'archive.failing': { readonly failing_since: string; readonly message: string };
  /** Of the labelled matches, the percentage that the judge judged as labelled, before and after it changed. */
  'judge.drift': {
    readonly labels: number;
    readonly right_before: number;
    readonly right_after: number;
  };
}

/** Amounts are in the unit of the budget. */
interface BudgetData {
  /** Such as `usd=5/day`. */
  readonly budget: string;
  readonly limit: number;
  readonly spent: number;
  /** What may still arrive until the platforms apply a pause. */
  readonly reserved: number;
  readonly resets_at: string | null;
}

interface InstallationBudgetData {
  readonly budget: 'installation';
  readonly resets_at: string | null;
  /** The platform that is disconnected meanwhile. */
  readonly platform: Platform;
}

interface GapData {
  readonly platform: Platform;
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

/** A window in which a rule got far more, or far fewer, matches than usual. Words and domains are untrusted content. */
export interface AlertData {
  readonly platform: Platform;
  readonly expected: number;
  readonly got: number;
  readonly window: '15m' | '1h' | '6h' | '24h';
  /** The probability of such a window, if nothing has changed. */
  readonly p: number;
  readonly since: string;
  readonly top_words: readonly string[];
  readonly top_domains: readonly string[];
  readonly sample_match_ids: readonly string[];
  /** For the items alone, without users and posts that the platform includes. */
  readonly usd_per_hour: number;
}

export type RaisedType = keyof NoticeData & NoticeType;

interface NoticeKind<Type extends RaisedType> {
  readonly severity: Notice['severity'];
  /** The notice reports a past event and is resolved from the start. */
  readonly isPast?: true;
  /** One to three sentences for people. */
  readonly whatToDo: (data: NoticeData[Type]) => string;
}

/** Such as `2026-11-18 17:34:46 UTC`. */
const timeOf = (at: string) => `${at.slice(0, 19).replace('T', ' ')} UTC`;
function periodOf({ from, to }: { from: string; to: string }): string {
  const [begin, end] = [timeOf(from), timeOf(to)];
  return begin === end ? `at ${begin}` : `between ${begin} and ${end}`;
}

const titleOf = (platform: Platform) => platformDescriptions[platform].title;

/** Such as `2026-11-19 00:00 UTC`. */
const minuteOf = (at: string) => `${at.slice(0, 16).replace('T', ' ')} UTC`;
/** Without seconds at midnight. Other times have them, as everywhere else. */
const endOf = (at: string) => (at.includes('T00:00:00') ? minuteOf(at) : timeOf(at));

type Amounts = Pick<BudgetData, 'budget' | 'limit' | 'spent'>;

function amountWords({ budget }: Pick<Amounts, 'budget'>, amount: number): string {
  if (budget.startsWith('usd=')) return `$${amount.toFixed(2)}`;
  return amount.toLocaleString('en-US', { maximumFractionDigits: 0 });
}

/** Such as `22 of 40 matches a day`. */
function spentWords(data: Amounts): string {
  const unit = data.budget.startsWith('usd=') ? '' : ' matches';
  const period = parseBudget(data.budget)?.period ?? 'lifetime';
  return `${amountWords(data, data.spent)} of ${amountWords(data, data.limit)}${unit} ${periodWords[period]}`;
}

const windowWords = { '15m': '15 minutes', '1h': 'an hour', '6h': '6 hours', '24h': '24 hours' } as const;
const alertWords = ({ platform, got, expected, window }: AlertData) =>
  `The rule got ${amountOf(got)} matches from ${titleOf(platform)} in ${windowWords[window]}; about ${amountOf(expected)} are usual at this time of the week`;
const amountOf = (amount: number) =>
  amount.toLocaleString('en-US', { maximumFractionDigits: amount < 10 ? 1 : 0 });

const periodWords = { day: 'a day', month: 'a month', lifetime: 'in total' } as const;

/** Names both terms of a trial, because either would end the rule again. */
const afterTrial =
  'To keep the rule, preview its queries, set another budget and another end (or none), and resume it. Otherwise delete it.';

export const noticeKinds: { readonly [Type in RaisedType]: NoticeKind<Type> } = {
  'budget.threshold': {
    severity: 'info',
    whatToDo: ({ percent, ...data }) =>
      `At least ${percent}% of the budget is spent: ${spentWords(data)}. If that is more than you expected, narrow the rules or raise the budget.`,
  },
  'budget.reached': {
    severity: 'critical',
    whatToDo: (data) => {
      if ('platform' in data)
        return `The budget that the operator set for the service is reached. Earshot receives no matches from ${titleOf(data.platform)} until ${data.resets_at === null ? 'the operator raises it' : endOf(data.resets_at)}. If that is too late, contact the operator.`;
      if (data.trial) return `The trial got ${data.spent} matches and is over. ${afterTrial}`;
      const raise = 'raise the budget or narrow the rules';
      const spent = spentWords(data);
      if (data.on_reached === 'notify')
        return `The budget is spent: ${spent}. Its rules continue. If that is too much, ${raise}.`;
      const early = data.spent < data.limit;
      const state = early
        ? `Paused early, at ${spent},`
        : `The budget is spent: ${spent}. Its rules are paused`;
      const why = early
        ? ` At the rate of the last minute, ${amountWords(data, data.reserved)} more could arrive before the platforms stop.`
        : '';
      if (data.resumes_at !== null)
        return `${state} until ${endOf(data.resumes_at)}.${why} To continue sooner, ${raise}.`;
      if (data.resets_at === null) return `${state} for good.${why} To continue, ${raise}.`;
      return `${state} and not resumed automatically, because the operator's default budget has paused the rule before.${why} Set a budget for this rule, or resume it after ${endOf(data.resets_at)}.`;
    },
  },
  'budget.forecast': {
    severity: 'warning',
    whatToDo: ({ reached_at, ...data }) =>
      `At the rate so far, the budget will be spent at about ${minuteOf(reached_at)}; now it is ${spentWords(data)}. Raise the budget, or narrow the rules.`,
  },
  'rate.unusual': {
    severity: 'warning',
    whatToDo: ({ matches_per_minute, usual_per_minute }) =>
      `The rule got ${matches_per_minute} matches in a minute; about ${usual_per_minute} are usual. It keeps running. If you do not want these matches, narrow the rule.`,
  },
  'alert.spike': {
    severity: 'warning',
    whatToDo: (data) =>
      `${alertWords(data)}. At this rate, its items cost about $${data.usd_per_hour.toFixed(2)} an hour. Read the newest matches. If you do not want them, narrow the rule.`,
  },
  'alert.drop': {
    severity: 'warning',
    whatToDo: (data) =>
      `${alertWords(data)}, and Earshot was receiving all the time. Preview the rule: its query may no longer match what people write.`,
  },
  'alert.recovered': {
    severity: 'info',
    isPast: true,
    whatToDo: ({ platform, alert, since, until, matches }) =>
      `Nothing to do: the ${alert} is over. The rule got ${amountOf(matches)} matches from ${titleOf(platform)} ${periodOf({ from: since, to: until })}.`,
  },
  'rule.paused': {
    severity: 'critical',
    whatToDo: ({ reason }) =>
      `Earshot has paused the rule (${reason}), so it gets no matches. Resume it when the cause is gone.`,
  },
  'rule.expired': {
    severity: 'warning',
    whatToDo: ({ trial }) =>
      trial
        ? `The time of the trial is over. ${afterTrial}`
        : 'The rule has expired and is paused. Set a later end and resume it, or delete it.',
  },
  'rule.refused': {
    severity: 'critical',
    whatToDo: ({ platform }) =>
      `${titleOf(platform)} no longer accepts the rule, so it gets no matches there. Change its query for ${titleOf(platform)}. Earshot also retries automatically.`,
  },
  'source.action_required': {
    severity: 'critical',
    whatToDo: ({ platform, state }) =>
      `Earshot receives no matches from ${titleOf(platform)} until the operator acts: ${whatToDo[state]}`,
  },
  'source.disconnected': {
    severity: 'warning',
    whatToDo: ({ platform, since }) =>
      `Earshot has received nothing from ${titleOf(platform)} since ${timeOf(since)}. It reconnects automatically; the notice is resolved when it receives again. If it lasts, contact the operator.`,
  },
  'coverage.gap': {
    severity: 'warning',
    whatToDo: ({ platform, ...period }) =>
      `Matches from ${titleOf(platform)} ${periodOf(period)} may be missing. The coverage of each rule shows whether they can be fetched. Another notice follows when they were fetched.`,
  },
  'coverage.repaired': {
    severity: 'info',
    isPast: true,
    whatToDo: ({ platform, via, ...period }) => {
      const missing = `the missing matches from ${titleOf(platform)} ${periodOf(period)}`;
      return via === 'search'
        ? `Nothing to do: ${missing} were fetched as far as a search finds them. The coverage of each rule names what a search leaves out.`
        : `Nothing to do: ${missing} were fetched.`;
    },
  },
  'webhook.failing': {
    severity: 'warning',
    whatToDo: ({ days }) =>
      `${days === undefined ? '' : 'The endpoint has failed for 24 hours. '}Check the answers of your endpoint in the deliveries of the webhook. Earshot retries every minute and disables the webhook after five days.`,
  },
  'webhook.disabled': {
    severity: 'critical',
    whatToDo: () =>
      'Earshot has stopped delivering to this webhook. Fix the endpoint, then set the webhook to active. Deliveries continue where they stopped.',
  },
  'digest.failing': {
    severity: 'warning',
    whatToDo: ({ number, message }) =>
      `Digest message ${number} could not be sent. ${message} Fix the recipient, or set another one. Earshot retries for 24 hours.`,
  },
  'digest.given_up': {
    severity: 'warning',
    isPast: true,
    whatToDo: ({ number, from, to }) =>
      `Digest message ${number} was not sent within 24 hours and was discarded. Its matches, ${periodOf({ from, to })}, are still in the list of matches.`,
  },
  'archive.failing': {
    severity: 'warning',
    whatToDo: ({ message }) =>
      `Earshot cannot write to the bucket of the archive. ${message} Check the bucket and its access key. Earshot retries and misses nothing.`,
  },
  'judge.drift': {
    severity: 'warning',
    isPast: true,
    whatToDo: ({ labels, right_before, right_after }) =>
      `The judge, with its new model or the new intent, agrees with ${right_after}% of ${labels} labels; before, it was ${right_before}%. Check the intent and the criteria of the rule, or ask the operator about the model.`,
  },
};
