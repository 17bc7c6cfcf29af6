/** What a plan allows. Premium rules are those on `x`; regular rules (`firehose`) need a paid plan. */
export interface Plan {
  readonly paid: boolean;
  readonly premiumRulesMax: number;
  /** Of one key; all keys of an account together get twice as many. */
  readonly requestsPerMinute: number;
  /** Of an account: rules and keys created, changed or removed. */
  readonly changesPerMinute: number;
  readonly keysMax: number;
  readonly readersMax: number;
  readonly webhooksMax: number;
}

export const planNames = ['free', 'paid'] as const;
export type PlanName = (typeof planNames)[number];

export type Plans = Readonly<Record<PlanName, Plan>>;
