import type { Rule } from '@earshot/sdk';

/** The change without which the server refuses to resume the rule; null if there is none. */
export function neededChange({ pause }: Pick<Rule, 'pause'>): string | null {
  if (pause?.reason === 'budget') return 'Raise budget …';
  if (pause?.reason === 'default_budget') return 'Set budget …';
  return pause?.reason === 'expired' ? 'Change expiry …' : null;
}
