import type { ReplayEvidence } from '../coverage/replay.ts';
import type { Nats } from '../engines/nats.ts';
import type { StreamEvent } from '../upstream/item.ts';
import { eventsStream, subjectOf } from './events-stream.ts';

/** When the newest event of a source came into the log, and when Firehose saw it. */
export async function readLastEvent(
  { manager }: Nats,
  sourceId: string,
): Promise<ReplayEvidence['lastEvent']> {
  const last = await manager.streams.getMessage(eventsStream, { last_by_subj: subjectOf(sourceId) });
  if (!last) return null;
  const matchedAt = Date.parse(String(last.json<StreamEvent>().payload.raw['matched_at']));
  return { loggedAt: last.time, matchedAt: Number.isNaN(matchedAt) ? null : new Date(matchedAt) };
}
