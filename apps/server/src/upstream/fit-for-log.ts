import type { StreamEvent } from './item.ts';

/** Below this many characters of wire text an event fits: a list of empty rule ids grows most, eleven times. */
const surelyFitsLength = 30_000;
const eventBytesMax = 400 * 1024;

/**
 * The log takes messages up to 512 KiB. Of a larger event the whole-page text that some Firehose plans send is
 * left out; null when it is still too large.
 */
export function fitForLog(event: StreamEvent, wireLength: number): StreamEvent | null {
  if (wireLength <= surelyFitsLength || bytesOf(event) <= eventBytesMax) return event;
  const document: unknown = event.payload.raw['document'];
  if (typeof document !== 'object' || document === null || !('markdown' in document)) return null;
  const { markdown: _left, ...kept } = document;
  const raw = { ...event.payload.raw, document: kept };
  const text = event.payload.text === _left ? null : event.payload.text;
  const smaller = { ...event, payload: { ...event.payload, text, raw } };
  return bytesOf(smaller) <= eventBytesMax ? smaller : null;
}

function bytesOf(event: StreamEvent): number {
  return Buffer.byteLength(JSON.stringify(event));
}
