import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { silentTelemetry } from '../../test/support.ts';
import { readFirehoseUpdate } from './firehose/item.ts';
import { itemDepthMax, unparsable } from './item.ts';
import { fitItem, readItem } from './read-item.ts';
import { readXRecord } from './x/item.ts';

const logTakesBytes = 512 * 1024;

function fitted(text: string, platform: 'x' | 'firehose') {
  const reading =
    platform === 'x' ? readXRecord('x:main', text) : readFirehoseUpdate('firehose:main', '0-1', text);
  if (reading.kind !== 'item') throw new Error(`read as ${reading.kind}`);
  return fitItem(reading.item, text.length);
}

function page(document: object, queryIds: string[] = ['1']): string {
  return JSON.stringify({
    query_ids: queryIds,
    matched_at: '2026-09-01T10:00:00Z',
    document: { url: 'https://a.example/', ...document },
  });
}

test.each([
  ['x', (deep: unknown) => JSON.stringify({ data: { id: '1', text: 'a', deep } })],
  ['firehose', (deep: unknown) => page({ diff, deep })],
] as const)('an item of %s that is nested too deep is dropped and counted', (platform, textOf) => {
  const telemetry = silentTelemetry();
  const itemDropped = vi.spyOn(telemetry, 'itemDropped');
  const deep = JSON.parse('['.repeat(itemDepthMax) + ']'.repeat(itemDepthMax));
  const read = (text: string) =>
    readItem({ sourceId: 'main', platform, telemetry }, { upstreamId: '0-1', text });
  expect(read(textOf([]))).not.toBeNull();
  expect(read(textOf(deep))).toBeNull();
  expect(itemDropped.mock.calls).toEqual([[{ platform, reason: 'nested_too_deep' }]]);
});

const diff = { chunks: [{ typ: 'ins', text: 'new words' }] };

describe('an event for the log', () => {
  test('is unchanged if it fits', () => {
    const event = fitted(page({ diff, markdown: 'm'.repeat(100_000) }), 'firehose');
    expect(event?.payload.raw['document']).toHaveProperty('markdown');
  });

  test('loses the page text if it is too large with it', () => {
    const event = fitted(page({ diff, markdown: 'm'.repeat(500_000) }), 'firehose');
    expect(event?.payload.raw['document']).toEqual({ url: 'https://a.example/', diff });
    expect(event?.payload.text).toBe('new words');
  });

  test('loses the page text also if it was used as the text', () => {
    const event = fitted(page({ markdown: 'm'.repeat(500_000) }), 'firehose');
    expect(event?.payload.text).toBeNull();
  });

  test('is dropped if it is still too large', () => {
    const huge = { chunks: [{ typ: 'ins', text: 'm'.repeat(500_000) }] };
    expect(fitted(page({ diff: huge, markdown: 'm' }), 'firehose')).toBeNull();
    const text = 't'.repeat(500_000);
    expect(fitted(JSON.stringify({ data: { id: '1', text } }), 'x')).toBeNull();
  });

  // The same characters may occur in several places of an event, and a short list may become a long one.
  test.each([
    ['an address', (length: number) => page({ url: '東'.repeat(length) }), 'firehose'],
    ['a title', (length: number) => page({ title: '東'.repeat(length) }), 'firehose'],
    [
      'empty rule ids',
      (length: number) =>
        page(
          {},
          Array.from({ length: length / 3 }, () => ''),
        ),
      'firehose',
    ],
    [
      'numbers',
      (length: number) => page({ numbers: '[1e20]' }).replace('"[1e20]"', `[${'1e20,'.repeat(length / 5)}1]`),
      'firehose',
    ],
    [
      'a name',
      (length: number) =>
        JSON.stringify({
          data: { id: '1', text: '', author_id: '1' },
          includes: { users: [{ id: '1', username: '東'.repeat(length) }] },
        }),
      'x',
    ],
  ] as const)('never exceeds the limit of the log, even if it is all %s', (_what, make, platform) => {
    for (const length of [9_000, 29_000, 45_000, 59_000, 70_000, 200_000]) {
      const event = fitted(make(length), platform);
      expect(event === null || Buffer.byteLength(JSON.stringify(event)) < logTakesBytes, `${length}`).toBe(
        true,
      );
    }
  });
});

describe('before JSON is parsed', () => {
  /** The nesting depth of a value, computed simply. */
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

  test('its depth is determined, whatever its strings contain', () => {
    const unit = fc.constantFrom('[', ']', '{', '}', '"', '\\', 'a', '東');
    const strange = fc.string({ unit, maxLength: 8 });
    const json = fc.jsonValue({ maxDepth: 6 });
    const value = fc.oneof(json, fc.array(strange), fc.dictionary(strange, fc.oneof(strange, json)));
    fc.assert(
      fc.property(value, (one) => {
        const text = JSON.stringify(one);
        const depth = depthOf(one);
        expect(unparsable(text, depth)).toBeNull();
        if (depth > 0) expect(unparsable(text, depth - 1)).toBe('nested_too_deep');
      }),
      { numRuns: 1_000 },
    );
  });

  test('many small parts are too large, but a long text is not', () => {
    expect(unparsable(`[${'{},'.repeat(250_000)}1]`, 64)).toBe('too_large');
    expect(unparsable(`["${'{'.repeat(1_000_000)}"]`, 64)).toBeNull();
  });

  test('text that is not JSON ends the check', () => {
    for (const text of ['"', '"\\', '[', ']]]', '\\"', '']) expect(unparsable(text, 64)).toBeNull();
  });
});
