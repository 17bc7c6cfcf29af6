import { createHash } from 'node:crypto';
import type { Item } from '../upstream/item.ts';

/*
 * The message format: one event per line as JSON, which contains no line breaks. See docs/adr/0037-packed-events.md.
 */

export const eventsPerMessageMax = 64;
/** Limit for messages with several events: far below the limits of NATS (1 MiB) and of the event log (512 KiB). */
export const packedBytesMax = 200_000;

/** Splits events, in order, into messages. An event above the limit gets its own message. */
export function splitIntoMessages<Entry extends { readonly bytes: number }>(
  entries: readonly Entry[],
  eventsMax: number,
): Entry[][] {
  const messages: Entry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const more = entry.bytes + 1;
    const message = messages.at(-1);
    if (message && message.length < eventsMax && bytes + more <= packedBytesMax) {
      message.push(entry);
      bytes += more;
    } else {
      messages.push([entry]);
      bytes = more;
    }
  }
  return messages;
}

export const packBodies = (bodies: readonly string[]): string => bodies.join('\n');

export const unpackBodies = (text: string): string[] => text.split('\n');

/**
 * The id contains the rules: a post delivered again for a new rule is a new message. It contains the UTC day: a post
 * delivered again on another day is billed again. This only saves work. The database's keys are what prevents
 * duplicates.
 */
export function messageIdOf(events: readonly Item[]): string {
  const [first] = events;
  const day = new Date().toISOString().slice(0, 10);
  const ids = events.map(({ upstreamEventId, rules }) => {
    const named = rules.map((rule) => rule.upstreamRuleId).toSorted();
    return `${upstreamEventId}:${digestOf(named.join(',')).slice(0, 8)}`;
  });
  const name = ids.length === 1 ? ids[0] : digestOf(ids.join(' '));
  return `${first?.sourceId}:${name}:${day}`;
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url');
