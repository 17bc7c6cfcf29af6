import type { Platform } from '@earshot/contract';
import type { DropReason } from '../observability/metrics.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { type Item, itemDepthMax, unparsable } from './item.ts';
import { platforms } from './platforms.ts';
import { StreamEnded, type WireItem } from './upstream-stream.ts';

/** Items with fewer characters always fit: a list of empty rule ids grows most, eleven times. */
const surelyFitsLength = 30_000;
/** The event log accepts messages up to 512 KiB. */
const itemBytesMax = 400 * 1024;

export interface ItemSource {
  readonly sourceId: string;
  readonly platform: Platform;
  readonly telemetry: Telemetry;
}

/** Parses what a platform sent into an item; null if it cannot be stored, which is counted. */
export function readItem(source: ItemSource, wire: WireItem): Item | null {
  const { platform, sourceId } = source;
  const reason = unparsable(wire.text, itemDepthMax);
  if (reason !== null) return dropItem(source, reason);
  const reading = platforms[platform].readItem(sourceId, wire);
  switch (reading.kind) {
    case 'item':
      return fitItem(reading.item, wire.text.length) ?? dropItem(source, 'too_large');
    case 'control':
      // The server normally closes after a control message, but may leave a dead socket open.
      throw new StreamEnded(reading.ending, `the platform sent ${reading.words}`);
    case 'dropped':
      return dropItem(source, reading.reason);
  }
}

export function dropItem({ platform, telemetry }: ItemSource, reason: DropReason): null {
  telemetry.itemDropped({ platform, reason });
  return null;
}

/** Shortens an item that is too large for the event log if its platform can; null if it is still too large. */
export function fitItem(item: Item, wireLength: number): Item | null {
  if (wireLength <= surelyFitsLength || bytesOf(item) <= itemBytesMax) return item;
  const shorter = platforms[item.platform].shortenItem?.(item);
  return shorter && bytesOf(shorter) <= itemBytesMax ? shorter : null;
}

function bytesOf(item: Item): number {
  return Buffer.byteLength(JSON.stringify(item));
}
