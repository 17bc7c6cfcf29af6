import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { xEvent } from '../../test/stream-events.ts';
import {
  eventsPerMessageMax,
  messageIdOf,
  packBodies,
  packedBytesMax,
  splitIntoMessages,
  unpackBodies,
} from './event-message.ts';

describe('packed events', () => {
  const bodies = fc.array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 50 }),
      fc.integer({ min: 0, max: packedBytesMax }).map((length) => 'ü'.repeat(length)),
    ),
    { maxLength: 100, size: 'max' },
  );

  test('are in messages of a bounded size, once each and in order', () => {
    const isSplit = fc.property(bodies, (texts) => {
      const entries = texts.map((text) => {
        const body = JSON.stringify(text);
        return { body, bytes: Buffer.byteLength(body) };
      });
      const messages = splitIntoMessages(entries, eventsPerMessageMax);
      expect(messages.flat()).toEqual(entries);
      for (const message of messages) {
        expect(message.length).toBeLessThanOrEqual(eventsPerMessageMax);
        const packed = packBodies(message.map(({ body }) => body));
        if (message.length > 1) expect(Buffer.byteLength(packed)).toBeLessThanOrEqual(packedBytesMax);
        expect(unpackBodies(packed)).toEqual(message.map(({ body }) => body));
      }
    });
    fc.assert(isSplit);
  });

  test('fill a message before the next one starts', () => {
    const entries = (count: number, length: number) =>
      Array.from({ length: count }, () => ({ bytes: length }));
    const sizes = (messages: ReadonlyArray<readonly unknown[]>) => messages.map(({ length }) => length);
    expect(sizes(splitIntoMessages(entries(130, 10), 64))).toEqual([64, 64, 2]);
    expect(sizes(splitIntoMessages(entries(5, packedBytesMax / 2 - 1), 64))).toEqual([2, 2, 1]);
    expect(sizes(splitIntoMessages(entries(3, packedBytesMax), 64))).toEqual([1, 1, 1]);
    expect(sizes(splitIntoMessages(entries(3, 10), 1))).toEqual([1, 1, 1]);
  });
});

test('text with line breaks is one event', () => {
  const { payload } = xEvent(1);
  const event = xEvent(1, { payload: { ...payload, text: 'a\nb\r\nc\u2028d' } });
  const [body = '', ...more] = unpackBodies(packBodies([JSON.stringify(event)]));
  expect(more).toEqual([]);
  expect(JSON.parse(body)).toEqual(event);
});

test('a message has the id of its events, in their order', () => {
  const id = messageIdOf([xEvent(1), xEvent(2)]);
  expect(messageIdOf([xEvent(1), xEvent(2)])).toBe(id);
  const others = [
    [xEvent(1)],
    [xEvent(2)],
    [xEvent(2), xEvent(1)],
    [xEvent(1), xEvent(2), xEvent(3)],
    [xEvent(1), xEvent(2, { rules: [{ upstreamRuleId: '2', tag: null }] })],
    [xEvent(1, { sourceId: 'x:other' }), xEvent(2, { sourceId: 'x:other' })],
  ].map(messageIdOf);
  expect(new Set([id, ...others]).size).toBe(others.length + 1);
});
