import type { Platform } from '@earshot/contract';
import type { Events } from '../observability/events.ts';
import type { DropReason } from '../observability/metrics.ts';
import { readFirehoseUpdate } from './firehose/item.ts';
import { fitForLog } from './fit-for-log.ts';
import type { StreamEvent } from './item.ts';
import { StreamEnded } from './upstream-stream.ts';
import { type Reading, readXRecord } from './x/item.ts';

export interface ItemSource {
  readonly sourceId: string;
  readonly platform: Platform;
  readonly events: Events;
}

export interface WireItem {
  readonly text: string;
  /** X has it in the text. */
  readonly upstreamId?: string | null;
}

/** What a platform sent, as the log takes it; null for what cannot be kept, which is counted. */
export function readItem(source: ItemSource, { text, upstreamId }: WireItem): StreamEvent | null {
  const { platform, sourceId } = source;
  const reading: Reading =
    platform === 'x' ? readXRecord(sourceId, text) : readFirehoseUpdate(sourceId, upstreamId ?? '', text);
  switch (reading.kind) {
    case 'event':
      return fitForLog(reading.event, text.length) ?? dropItem(source, 'too_large');
    case 'control':
      // The server normally closes after a control message, but dead open sockets were seen.
      throw new StreamEnded(reading.ending, `the upstream says ${reading.words}`);
    case 'dropped':
      return dropItem(source, reading.reason);
  }
}

export function dropItem({ platform, events }: ItemSource, reason: DropReason): null {
  events.itemDropped({ platform, reason });
  return null;
}
