import { z } from 'zod';
import type { UpstreamClient } from '../client.ts';

const listSchema = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })).nullish() });
const killSchema = z.looseObject({ data: z.looseObject({ successful_kills: z.number() }) });

const listPath = '/2/connections?status=active&endpoints=filtered_stream&max_results=100';

/**
 * Ends every stream that X counts for this app, and returns how many it ended. For the holder of the source's
 * lease that has none open: what is there is a connection of a dead process.
 */
export function createFreeSlot(client: UpstreamClient): (signal: AbortSignal) => Promise<number> {
  return async (signal) => {
    const listed = await client.call('GET', listPath, { signal });
    const uuids = (listSchema.safeParse(listed.body).data?.data ?? []).map(({ id }) => id);
    if (listed.status !== 200 || uuids.length === 0) return 0;
    const killed = await client.call('DELETE', '/2/connections', { body: { uuids }, signal });
    return killSchema.safeParse(killed.body).data?.data.successful_kills ?? 0;
  };
}
