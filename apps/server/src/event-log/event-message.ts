import { createHash } from 'node:crypto';
import type { Item } from '../upstream/item.ts';

/*
 * The format of a message: one event per line, as JSON, which has no line breaks of its own. Why, and what
 * follows from it: docs/adr/0037-packed-events.md.
 */

export const eventsPerMessageMax = 64;
/** Of a message with several events: far below what a NATS server takes (1 MiB), and the event log (512 KiB). */
export const packedBytesMax = 200_000;

/** Splits events, in their order, into those that share a message. One that is larger than the bound is alone. */
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
 * The rules are part of the id: a post that is delivered again for a rule registered meanwhile is a new message. So is the UTC
 * day: a post that is delivered again on another day is billed again. All this only saves work: the database's keys keep what
 * is delivered twice from being stored twice, as they must for events that come again in other company.
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
