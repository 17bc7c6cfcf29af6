/**
 * Limits of an account. The names are those of the columns of `plans`, in `accounts.limits`, and of the commands
 * `earshot admin plans` and `earshot admin accounts limits`.
 */
export interface AccountLimits {
  /** Rules on x. */
  readonly rules: number;
  /** Requests per minute of one key; all keys of an account together get twice as many. */
  readonly requests: number;
  /** Rules and keys that are created, changed or removed per minute. */
  readonly changes: number;
  readonly keys: number;
  readonly webhooks: number;
  /** Named readers. */
  readonly readers: number;
  readonly digests: number;
  /** Mails per UTC day. A digest message to three addresses counts as three, once, however often it is retried. */
  readonly mails: number;
  /** Calls of X's counts for estimates, per UTC day. Each costs $0.005 or $0.010. */
  readonly counts: number;
}

export type LimitName = keyof AccountLimits;

const every: Readonly<Record<LimitName, true>> = {
  rules: true,
  requests: true,
  changes: true,
  keys: true,
  webhooks: true,
  readers: true,
  digests: true,
  mails: true,
  counts: true,
};

// Object.keys loses the type of the names.
export const limitNames = Object.keys(every) as readonly LimitName[];

/** Only a paid plan has regular rules, those on `firehose`. */
export type PlanName = 'paid' | 'free';

/** The plan and limits of an account: those of the plan, unless the operator has set others for the account. */
export interface PlanAndLimits {
  readonly plan: PlanName;
  readonly limits: AccountLimits;
}

/** The two columns of `PlanAndLimits`, from `accounts` joined with `plans` by `ofPlan`. */
const limits = '(to_jsonb(plans) || accounts.limits)';
export const allowedColumns = `accounts.plan, ${limits} as limits`;
export const limitOf = (name: LimitName) => `(${limits}->'${name}')::integer`;
export const ofPlan = 'plans on plans.name = accounts.plan';
