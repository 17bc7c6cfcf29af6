import { z } from 'zod';
import { type PlatformDescription, platformDescriptions } from './platform-descriptions.ts';

export { type PlatformDescription, platformDescriptions } from './platform-descriptions.ts';

export type Platform = keyof typeof platformDescriptions;

// `Object.keys` forgets the names.
export const platforms = Object.keys(platformDescriptions) as readonly Platform[];

export const platformSchema = z.enum(platforms);

export function onEachPlatform<Value>(
  make: (platform: Platform, description: PlatformDescription) => Value,
): Readonly<Record<Platform, Value>> {
  const entries = platforms.map((platform) => [platform, make(platform, platformDescriptions[platform])]);
  return Object.fromEntries(entries);
}

/** An object with one optional entry per platform: the shape of every `platforms` answer. */
export function perPlatform<Value extends z.ZodType>(value: Value) {
  return z.strictObject(onEachPlatform(() => value.optional()));
}
