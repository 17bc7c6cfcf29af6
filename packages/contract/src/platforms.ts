import { z } from 'zod';

export const platforms = ['x', 'firehose'] as const;

export type Platform = (typeof platforms)[number];

export const platformSchema = z.enum(platforms);

/** An object with one optional entry per platform: the shape of every `platforms` answer. */
export function perPlatform<Value extends z.ZodType>(value: Value) {
  return z.strictObject({ x: value.optional(), firehose: value.optional() });
}
