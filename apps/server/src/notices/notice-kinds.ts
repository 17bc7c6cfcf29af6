import type { Budget, Notice, NoticeType, Platform, SourceState } from '@earshot/contract';
import { whatToDo } from '../upstream/protocol.ts';

/** The facts of each type that is raised. */
export interface NoticeData {
  'budget.threshold': BudgetData & { readonly percent: number };
  /** Of a whole installation neither the budget nor what is spent is told: it says something of other accounts. */
  'budget.reached': (BudgetData | InstallationBudgetData) & {
    readonly on_reached: Budget['on_reached'];
    readonly trial?: true;
  };
  'budget.forecast': BudgetData & { readonly reached_at: string };
  'rate.unusual': {
    readonly matches_per_minute: number;
    /** At this time of the day, in the last week. */
    readonly usual_per_minute: number;
  };
  /** Earshot paused it, for another reason than its end. */
  'rule.paused': { readonly because: string };
  'rule.expired': { readonly expires_at: string | null; readonly trial?: true };
  /** `problem` is in the platform's words. */
  'rule.refused': { readonly platform: Platform; readonly problem: string };
  'source.action_required': {
    readonly platform: Platform;
    readonly state: SourceState;
    readonly problem?: string;
  };
  'coverage.gap': GapData;
  'coverage.repaired': Omit<GapData, 'reason'> & { readonly via: string | null };
  /** `days`: of the notice that it has lasted so long. */
  'webhook.failing': { readonly failing_since: string; readonly failures: number; readonly days?: number };
  'webhook.disabled': { readonly because: string };
  /** `problem` is in our words, with the answer of the endpoint or of the mail server. */
  'digest.failing': { readonly number: number; readonly failing_since: string; readonly problem: string };
  /** An issue that was not sent, and the time that it was about. */
  'digest.given_up': {
    readonly number: number;
    readonly from: string;
    readonly to: string;
    readonly problem: string;
  };
}

/** Amounts in the unit of the budget. */
interface BudgetData {
  /** Such as `usd=5/day`. */
  readonly budget: string;
  readonly spent: number;
  readonly resets_at: string | null;
}

interface InstallationBudgetData {
  readonly budget: 'installation';
  readonly resets_at: string | null;
  /** Where nothing is heard meanwhile. */
  readonly platform: Platform;
}

interface GapData {
  readonly platform: Platform;
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

export type RaisedType = keyof NoticeData & NoticeType;

interface NoticeKind<Type extends RaisedType> {
  readonly severity: Notice['severity'];
  /** It tells what happened, and nothing that lasts. */
  readonly isPast?: true;
  /** One sentence for people. */
  readonly whatToDo: (data: NoticeData[Type]) => string;
}

/** A trial has both, and either would end the rule again. */
const afterTrial =
  'PreviewRule tells what its values would bring; to go on, give the rule another "budget" and "expires_at" (null for none) with UpdateRule and resume it, or delete it.';

export const noticeKinds: { readonly [Type in RaisedType]: NoticeKind<Type> } = {
  'budget.threshold': {
    severity: 'info',
    whatToDo: ({ budget, percent }) =>
      `${percent} % of the budget ${budget} is spent: nothing, if that was to be expected; otherwise narrow the rules, or raise the budget.`,
  },
  'budget.reached': {
    severity: 'critical',
    whatToDo: (data) => {
      const { budget, on_reached, resets_at } = data;
      if ('platform' in data)
        return `The service has spent what its operator allows, and rules on ${data.platform} are not heard until ${resets_at ?? 'that is changed'}: ask the operator if that is too late.`;
      if (data.trial) return `The trial has brought ${data.spent} matches and is over: ${afterTrial}`;
      const raise = 'Raise the budget, or narrow the rules';
      if (on_reached === 'notify') return `The budget ${budget} is spent, and the rules go on. ${raise}.`;
      const until = resets_at === null ? '' : `; otherwise it resumes by itself at ${resets_at}`;
      return `The budget ${budget} is spent, or would be by what still comes, and what it is for is paused. ${raise}${until}.`;
    },
  },
  'budget.forecast': {
    severity: 'warning',
    whatToDo: ({ budget, reached_at }) =>
      `The budget ${budget} will be reached at about ${reached_at}, if things go on as they do: raise it, or narrow the rules.`,
  },
  'rate.unusual': {
    severity: 'warning',
    whatToDo: ({ matches_per_minute, usual_per_minute }) =>
      `The rule got ${matches_per_minute} matches in a minute, usually about ${usual_per_minute}, and keeps running: narrow it if that is not what you want.`,
  },
  'rule.paused': {
    severity: 'critical',
    whatToDo: ({ because }) =>
      `Earshot has paused the rule (${because}) and nothing is matched: resume it when the reason is gone.`,
  },
  'rule.expired': {
    severity: 'warning',
    whatToDo: ({ trial }) =>
      trial
        ? `The time of the trial is over: ${afterTrial}`
        : 'The rule has expired and is paused: give it a later "expires_at" and resume it, or delete it.',
  },
  'rule.refused': {
    severity: 'critical',
    whatToDo: ({ platform }) =>
      `The rule is not heard on ${platform}, which does not take it any more: change its value there; it is also tried again by itself.`,
  },
  'source.action_required': {
    severity: 'critical',
    whatToDo: ({ platform, state }) =>
      `Rules on ${platform} are not heard until the operator of the service acts: ${whatToDo[state]}`,
  },
  'coverage.gap': {
    severity: 'warning',
    whatToDo: ({ platform, from, to }) =>
      `What was published on ${platform} from ${from} to ${to} may be missing: GetCoverage tells for each rule whether it can be fetched, and a notice tells when it was.`,
  },
  'coverage.repaired': {
    severity: 'info',
    isPast: true,
    whatToDo: ({ platform, from, to }) =>
      `Nothing: what was missed on ${platform} from ${from} to ${to} was fetched.`,
  },
  'webhook.failing': {
    severity: 'warning',
    whatToDo: ({ days }) =>
      `${days === undefined ? '' : 'The endpoint has failed for a whole day. '}Look at what your endpoint answers, with ListDeliveries: it is tried again every minute, and given up after five days.`,
  },
  'webhook.disabled': {
    severity: 'critical',
    whatToDo: () =>
      'Nothing is delivered any more: mend the endpoint, then make the webhook active with UpdateWebhook, and it goes on where it stopped.',
  },
  'digest.failing': {
    severity: 'warning',
    whatToDo: ({ number, problem }) =>
      `Issue ${number} of the digest could not be sent (${problem}): mend the recipient, or give the digest another one with UpdateDigest. It is tried again for 24 hours.`,
  },
  'digest.given_up': {
    severity: 'warning',
    isPast: true,
    whatToDo: ({ number, from, to }) =>
      `Issue ${number} of the digest was not sent within 24 hours and is given up: read what matched from ${from} to ${to} with ListMatches, "since" and "until".`,
  },
};
