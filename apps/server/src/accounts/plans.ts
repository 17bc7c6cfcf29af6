/** How much of something an account may have. */
export interface AccountLimits {
  readonly premiumRulesMax: number;
  /** Of one key; all keys of an account together get twice as many. */
  readonly requestsPerMinute: number;
  /** Of an account: rules and keys created, changed or removed. */
  readonly changesPerMinute: number;
  readonly keysMax: number;
  readonly webhooksMax: number;
  readonly readersMax: number;
  readonly digestsMax: number;
}

/** What a plan allows. Premium rules are those on `x`; regular rules (`firehose`) need a paid plan. */
export interface Plan extends AccountLimits {
  readonly paid: boolean;
}

export const planNames = ['free', 'paid'] as const;
export type PlanName = (typeof planNames)[number];

export type Plans = Readonly<Record<PlanName, Plan>>;

/** What an account may: that of its plan, unless the operator has set something else for it. */
export interface Allowed {
  readonly plan: PlanName;
  readonly limits?: Partial<AccountLimits>;
}

export function planOf(plans: Plans, { plan, limits }: Allowed): Plan {
  return { ...plans[plan], ...limits };
}
