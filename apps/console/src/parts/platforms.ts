import type { Match } from '@earshot/sdk';

export type Platform = Match['platform'];

export const platformNames: Readonly<Record<Platform, string>> = {
  x: 'X',
  firehose: 'Firehose',
  bluesky: 'Bluesky',
};

const isPlatform = (name: string): name is Platform => Object.hasOwn(platformNames, name);

const known: Platform[] = ['x', 'firehose'];

/** The platforms that the server has. */
export const platforms: readonly Platform[] = known;

/** Its page names them if there are more than the usual ones. */
export function knowPlatforms(names: string | undefined): void {
  if (names !== undefined) known.splice(0, known.length, ...names.split(' ').filter(isPlatform));
}
