import { z } from 'zod';
import { platforms } from './platform-list.ts';

export { platforms } from './platform-list.ts';

export type Platform = (typeof platforms)[number];

export const platformSchema = z.enum(platforms);

/** The same for each platform. */
export function onEachPlatform<Value>(value: Value): Readonly<Record<Platform, Value>> {
  const entries = platforms.map((platform) => [platform, value]);
  // `Object.fromEntries` forgets the names.
  return Object.fromEntries(entries);
}

/** An object with one optional entry per platform: the shape of every `platforms` answer. */
export function perPlatform<Value extends z.ZodType>(value: Value) {
  return z.strictObject(onEachPlatform(value.optional()));
}
