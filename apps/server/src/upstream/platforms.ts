import type { Platform } from '@earshot/contract';

export interface PlatformTraits {
  /** Premium rules are limited in number per account. */
  readonly ruleType: 'premium' | 'regular';
  /** Whether only accounts on a paid plan may have rules on it. */
  readonly needsPaidPlan: boolean;
}

/** In what the platforms differ, for capabilities that know none of them by name. */
export const platforms: Readonly<Record<Platform, PlatformTraits>> = {
  x: { ruleType: 'premium', needsPaidPlan: false },
  firehose: { ruleType: 'regular', needsPaidPlan: true },
};
