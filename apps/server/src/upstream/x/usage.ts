import { z } from 'zod';
import type { UpstreamClient } from '../client.ts';
import type { ReadUsage } from '../platform.ts';
import { UpstreamUnavailable } from '../upstream-rules.ts';
import { problemOf, wordsAfterColon } from './ending.ts';

/** Earshot needs yesterday; X is sometimes late. */
const days = 3;

/** X sends numbers as text. */
const count = z.coerce.number().int().min(0);
const usageSchema = z.object({
  data: z.looseObject({
    daily_project_usage: z.looseObject({
      usage: z.array(z.looseObject({ date: z.string(), usage: count })),
    }),
  }),
});

/** Posts that X has counted for the app's project, by UTC day. Null if X does not report them to this app. */
export function createReadXUsage(client: UpstreamClient): ReadUsage {
  const query = new URLSearchParams({ days: String(days), 'usage.fields': 'daily_project_usage' });
  return async (signal) => {
    const { status, body } = await client.call('GET', `/2/usage/tweets?${query.toString()}`, { signal });
    if (status === 403) return null;
    const usage = usageSchema.safeParse(body);
    if (status !== 200 || !usage.success)
      throw new UpstreamUnavailable(
        `X answered ${status} about its usage${wordsAfterColon(problemOf(body))}`,
      );
    const reported = usage.data.data.daily_project_usage.usage;
    return new Map(reported.map((day) => [day.date.slice(0, 10), day.usage]));
  };
}
