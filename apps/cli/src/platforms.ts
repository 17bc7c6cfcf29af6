import { type Platform, allPlatforms as platforms } from '@earshot/contract/platforms';
import type { Requests } from '@earshot/sdk';

type Values = Pick<Requests['CreateRule'], 'platforms' | 'overrides'>;

/** The `platforms` and `overrides` of a request. Its platforms are those that have a query. */
export function onPlatforms(values: { readonly [P in Platform]?: string | undefined }): Values {
  const overrides: Values['overrides'] = {};
  for (const platform of platforms) {
    const value = values[platform];
    if (value !== undefined) overrides[platform] = value;
  }
  return { platforms: platforms.filter((platform) => platform in overrides), overrides };
}

const colours = ['cyan', 'magenta', 'green', 'blue'] as const;

/** The colour of a platform in lists of matches. */
export function colourOf(platform: Platform): (typeof colours)[number] {
  return colours[platforms.indexOf(platform) % colours.length] ?? 'cyan';
}
