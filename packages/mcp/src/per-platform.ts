import { onEachPlatform, type Platform, type PlatformDescription, platforms } from '@earshot/contract';
import { z } from 'zod';

export const platform = z.enum(platforms);

/** Describes each platform and joins the texts. */
export function describePlatforms(
  describe: (platform: Platform, description: PlatformDescription) => string,
  separator: string,
): string {
  return Object.values(onEachPlatform(describe)).join(separator);
}

/** A record of the platforms that have a value. A record's JSON schema describes the value only once. */
export function perPlatform<Value, Result>(
  values: { readonly [P in Platform]?: Value | undefined },
  map: (value: Value, platform: Platform) => Result,
): Record<string, Result> {
  const results: Record<string, Result> = {};
  for (const name of platforms) {
    const value = values[name];
    if (value !== undefined) results[name] = map(value, name);
  }
  return results;
}
