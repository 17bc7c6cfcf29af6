import type { Platform } from '@earshot/contract';
import type { DropReason } from '../observability/metrics.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { type Item, itemDepthMax, unparsable } from './item.ts';
import { platforms } from './platforms.ts';
import { StreamEnded, type WireItem } from './upstream-stream.ts';

/** Below this many characters of wire text an item fits: a list of empty rule ids grows most, eleven times. */
const surelyFitsLength = 30_000;
/** The event log takes messages up to 512 KiB. */
const itemBytesMax = 400 * 1024;

export interface ItemSource {
  readonly sourceId: string;
  readonly platform: Platform;
  readonly telemetry: Telemetry;
}

/** What a platform sent, as the event log takes it; null for what cannot be kept, which is counted. */
export function readItem(source: ItemSource, wire: WireItem): Item | null {
  const { platform, sourceId } = source;
  const reason = unparsable(wire.text, itemDepthMax);
  if (reason !== null) return dropItem(source, reason);
  const reading = platforms[platform].readItem(sourceId, wire);
  switch (reading.kind) {
    case 'item':
      return fitItem(reading.item, wire.text.length) ?? dropItem(source, 'too_large');
    case 'control':
      // The server normally closes after a control message, but dead open sockets were seen.
      throw new StreamEnded(reading.ending, `the upstream says ${reading.words}`);
    case 'dropped':
      return dropItem(source, reading.reason);
  }
}

export function dropItem({ platform, telemetry }: ItemSource, reason: DropReason): null {
  telemetry.itemDropped({ platform, reason });
  return null;
}

/** An item that is too large for the event log is shortened where its platform can; null when it is still too large. */
export function fitItem(item: Item, wireLength: number): Item | null {
  if (wireLength <= surelyFitsLength || bytesOf(item) <= itemBytesMax) return item;
  const shorter = platforms[item.platform].shortenItem?.(item);
  return shorter && bytesOf(shorter) <= itemBytesMax ? shorter : null;
}

function bytesOf(item: Item): number {
  return Buffer.byteLength(JSON.stringify(item));
}
