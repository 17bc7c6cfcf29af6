import { z } from 'zod';
import { type PlatformDescription, platformDescriptions } from './platform-descriptions.ts';

export { type PlatformDescription, platformDescriptions } from './platform-descriptions.ts';

export type Platform = keyof typeof platformDescriptions;

/** `Object.keys` forgets the names. */
export const allPlatforms = Object.keys(platformDescriptions) as readonly Platform[];

const { process: node } = globalThis as {
  process?: { env: Readonly<Record<string, string | undefined>> };
};
/** Empty in a browser. */
const environment = node?.env ?? {};

/**
 * The platforms of this installation: an operator may have switched on more than the usual ones. A client, which calls
 * any installation, knows `allPlatforms`.
 */
export const platforms: readonly Platform[] = allPlatforms.filter((platform) => {
  const { setting } = platformDescriptions[platform];
  return setting === null || Boolean(environment[setting]);
});

export const platformSchema = z.enum(platforms);

export function onEachPlatform<Value>(
  make: (platform: Platform, description: PlatformDescription) => Value,
  names = platforms,
): Readonly<Record<Platform, Value>> {
  const entries = names.map((platform) => [platform, make(platform, platformDescriptions[platform])]);
  return Object.fromEntries(entries);
}

type Options = Readonly<{ [P in Platform]?: Readonly<Record<string, boolean | undefined>> | undefined }>;

/**
 * Those of a rule's options that differ from the platform's default, in the order of their names; undefined when nothing is
 * said of the platform.
 */
export function differingOptions(platform: Platform, options: Options): Record<string, boolean> | undefined {
  const given = options[platform];
  if (given === undefined) return undefined;
  const differing: Record<string, boolean> = {};
  const defaults: Readonly<Record<string, boolean>> = platformDescriptions[platform].ruleOptions;
  for (const name of Object.keys(defaults).toSorted()) {
    const value = given[name];
    if (value !== undefined && value !== defaults[name]) differing[name] = value;
  }
  return differing;
}

/** An object with one optional entry per platform: the shape of every `platforms` answer. */
export function perPlatform<Value extends z.ZodType>(value: Value) {
  return z
    .strictObject(
      onEachPlatform((platform) =>
        value
          .optional()
          .meta({ description: `On \`${platform}\`; absent unless the rule, or the request, names it.` }),
      ),
    )
    .meta({ description: 'One entry per platform.' });
}
