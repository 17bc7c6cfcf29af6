import type { Requests } from '@earshot/sdk';

export const platforms = ['x', 'firehose'] as const;

type Values = Pick<Requests['CreateRule'], 'platforms' | 'overrides'>;

/** The values of a rule as a request has them: its platforms are those that have one. */
export function onPlatforms(overrides: Values['overrides']): Values {
  return { platforms: platforms.filter((platform) => overrides[platform] !== undefined), overrides };
}
