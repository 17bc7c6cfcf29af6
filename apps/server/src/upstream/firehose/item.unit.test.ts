import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readFirehoseUpdate } from './item.ts';

const update = {
  tap_id: '6f0c',
  query_ids: ['b1', 'b2'],
  matched_at: '2026-09-01T23:59:59.999999Z',
  document: {
    url: 'https://news.example/a/1',
    title: 'Heat pumps overtake gas',
    publish_time: '2026-09-01T08:00:00',
    diff: {
      chunks: [
        { typ: 'ins', text: 'Sales of heat pumps' },
        { typ: 'del', text: 'Sales of gas' },
        { typ: 'ctx', text: 'around' },
        { typ: 'ins', text: 'rose.' },
      ],
    },
    language: 'en',
    page_category: ['/News'],
  },
};

function read(record: unknown, id = '0-1') {
  return readFirehoseUpdate('firehose:main', id, JSON.stringify(record));
}

function eventOf(record: unknown) {
  const reading = read(record);
  if (reading.kind !== 'item') throw new Error(`read as ${JSON.stringify(reading)}`);
  return reading.item;
}

describe('an update', () => {
  test('becomes an event with the added text, on the day it matched', () => {
    expect(eventOf(update)).toEqual({
      platform: 'firehose',
      sourceId: 'firehose:main',
      upstreamEventId: '0-1',
      key: expect.stringMatching(/^[\w-]{22}$/),
      day: '2026-09-01',
      platformPostId: 'https://news.example/a/1',
      rules: [
        { upstreamRuleId: 'b1', tag: null },
        { upstreamRuleId: 'b2', tag: null },
      ],
      payload: {
        url: 'https://news.example/a/1',
        title: 'Heat pumps overtake gas',
        text: 'Sales of heat pumps\nrose.',
        author: null,
        published_at: '2026-09-01T08:00:00.000Z',
        language: 'en',
        raw: { matched_at: update.matched_at, document: update.document },
      },
    });
  });

  test('of the beta names one rule and has the page as markdown', () => {
    const { query_ids: _ids, ...rest } = update;
    const { diff: _diff, ...document } = update.document;
    const event = eventOf({ ...rest, query_id: 'b9', document: { ...document, markdown: '# Heat' } });
    expect(event.rules).toEqual([{ upstreamRuleId: 'b9', tag: null }]);
    expect(event.payload.text).toBe('# Heat');
  });

  test('needs only url and time; other fields may be absent or null', () => {
    const nulls = { title: null, publish_time: null, language: null, diff: null, markdown: null };
    for (const more of [{}, nulls, { diff: { chunks: null } }]) {
      expect(
        eventOf({ matched_at: update.matched_at, query_ids: null, document: { url: 'u', ...more } }),
      ).toMatchObject({
        rules: [],
        payload: { title: null, text: null, published_at: null, language: null },
      });
    }
  });

  test.each([
    ['2026-09-01T08:00:00+02:00', '2026-09-01T06:00:00.000Z'],
    ['2026-09-01', '2026-09-01T00:00:00.000Z'],
    ['last week', null],
  ])('published at %s is %s', (publishTime, expected) => {
    const { document } = update;
    expect(
      eventOf({ ...update, document: { ...document, publish_time: publishTime } }).payload.published_at,
    ).toBe(expected);
  });
});

describe('the key', () => {
  const keyWith = (changed: object) =>
    eventOf({ ...update, document: { ...update.document, ...changed } }).key;

  test('is the same for the same change on any token, position, time and rules', () => {
    const again = { ...update, tap_id: 'other', query_ids: ['z'], matched_at: '2026-09-02T10:00:00Z' };
    expect(eventOf(again).key).toBe(eventOf(update).key);
    expect(keyWith({ language: 'de', markdown: 'x' })).toBe(eventOf(update).key);
  });

  test.each([
    { url: 'https://news.example/a/2' },
    { title: 'Other' },
    { publish_time: '2026-09-01T09:00:00' },
    { diff: { chunks: [] } },
    { diff: { chunks: update.document.diff.chunks.toReversed() } },
  ])('differs for %j', (changed) => {
    expect(keyWith(changed)).not.toBe(eventOf(update).key);
  });
});

describe('dropped updates', () => {
  test.each([
    {},
    [],
    null,
    { ...update, matched_at: 'now' },
    { ...update, query_ids: ['b\0'] },
    { ...update, document: { title: 'no url' } },
    { ...update, document: { ...update.document, url: 'https://a.example/\0' } },
    { ...update, document: { ...update.document, diff: { chunks: [{ typ: 'ins' }] } } },
  ])('%j', (record) => {
    expect(read(record)).toEqual({ kind: 'dropped', reason: 'unknown_shape' });
  });

  test.each(['', 'ř', '0 1', 'x'.repeat(201)])(
    'an update with the id "%s" cannot be resumed from and is dropped',
    (id) => {
      expect(read(update, id)).toEqual({ kind: 'dropped', reason: 'unknown_shape' });
    },
  );

  test('broken JSON', () => {
    expect(readFirehoseUpdate('firehose:main', '0-1', '{')).toEqual({ kind: 'dropped', reason: 'not_json' });
  });
});

test('hostile input never throws, and events carry no names of the token', () => {
  const record = fc.record(
    {
      tap_id: fc.jsonValue(),
      query_ids: fc.oneof(fc.array(fc.string()), fc.jsonValue()),
      query_id: fc.jsonValue(),
      matched_at: fc.oneof(
        fc.date().map((date) => (Number.isNaN(date.getTime()) ? '' : date.toISOString())),
        fc.jsonValue(),
      ),
      document: fc.oneof(
        fc.record({ url: fc.string({ unit: 'binary' }), title: fc.jsonValue() }),
        fc.jsonValue(),
      ),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        record.map((one) => JSON.stringify(one)),
      ),
      (text) => {
        const reading = readFirehoseUpdate('firehose:main', '0-1', text);
        if (reading.kind !== 'item') return;
        expect(Object.keys(reading.item.payload.raw)).toEqual(['matched_at', 'document']);
        expect(reading.item.platformPostId).not.toContain('\0');
      },
    ),
    { numRuns: 1_000 },
  );
}, 60_000);
