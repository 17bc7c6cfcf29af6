import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EndingKind } from '../upstream-stream.ts';
import { readXRecord } from './item.ts';

const post = {
  data: {
    id: '1961112223334445556',
    text: 'Aurora over the north cape tonight #fjordlight',
    edit_history_tweet_ids: ['1961112223334445556'],
    author_id: '90210021',
    created_at: '2026-08-30T09:21:07.000Z',
    lang: 'en',
  },
  includes: { users: [{ id: '90210021', name: 'Acme Sky', username: 'acme_sky' }] },
  matching_rules: [{ id: '1941203344556677889', tag: 'sub:7f3a' }, { id: '1941203344556677890' }],
};

function read(record: unknown) {
  return readXRecord('x:main', JSON.stringify(record));
}

function eventOf(record: unknown) {
  const reading = read(record);
  if (reading.kind !== 'item') throw new Error(`read as ${JSON.stringify(reading)}`);
  return reading.item;
}

describe('a post', () => {
  test('becomes an event with its id, on the day of its id', () => {
    expect(eventOf(post)).toEqual({
      platform: 'x',
      sourceId: 'x:main',
      upstreamEventId: '1961112223334445556',
      key: '1961112223334445556',
      day: '2025-08-28',
      platformPostId: '1961112223334445556',
      rules: [
        { upstreamRuleId: '1941203344556677889', tag: 'sub:7f3a' },
        { upstreamRuleId: '1941203344556677890', tag: null },
      ],
      payload: {
        url: 'https://x.com/acme_sky/status/1961112223334445556',
        title: null,
        text: post.data.text,
        author: { id: '90210021', name: 'Acme Sky', handle: 'acme_sky' },
        published_at: '2026-08-30T09:21:07.000Z',
        language: 'en',
        raw: { data: post.data, includes: post.includes },
      },
    });
  });

  test.each(['edit_history_tweet_ids', 'edit_history_post_ids'])(
    'has the id of the post that it edits, from %s',
    (field) => {
      const { edit_history_tweet_ids: own, ...data } = post.data;
      const edited = { ...post, data: { ...data, [field]: ['1961112223334445000', ...own] } };
      expect(eventOf(edited).payload).toMatchObject({ edit_of: '1961112223334445000' });
      expect(eventOf(post).payload).not.toHaveProperty('edit_of');
    },
  );

  test('keeps everything that X sent except the matching rules', () => {
    const strange = { ...post, errors: [{ title: 'Not Found Error' }], new_thing: { deep: [1] } };
    const { matching_rules: _rules, ...rest } = strange;
    expect(eventOf(strange).payload.raw).toEqual(rest);
  });

  test.each(['note_tweet', 'note_post'])('has its long text from %s', (field) => {
    const long = { ...post, data: { ...post.data, [field]: { text: 'the whole long text' } } };
    expect(eventOf(long).payload.text).toBe('the whole long text');
  });

  test('has the same key with any rules, includes and counters', () => {
    const again = {
      data: { ...post.data, public_metrics: { like_count: 7 } },
      matching_rules: [{ id: '1' }],
    };
    expect(eventOf(again).key).toBe(eventOf(post).key);
    expect(eventOf(again).day).toBe(eventOf(post).day);
  });

  test('needs only id and text; other fields may be absent or null', () => {
    const { id, text } = post.data;
    const nulls = { author_id: null, created_at: null, lang: null, note_tweet: null, note_post: null };
    for (const record of [
      { data: { id, text } },
      { data: { id, text, ...nulls }, includes: null },
      { data: { id, text }, includes: { users: null }, matching_rules: [{ id: '1', tag: null }] },
    ]) {
      expect(eventOf(record).payload).toMatchObject({
        url: `https://x.com/i/status/${id}`,
        author: null,
        published_at: '2025-08-28T17:02:44.403Z',
        language: null,
      });
    }
  });

  test('with an invalid time has the time of its id', () => {
    const odd = { data: { ...post.data, created_at: 'yesterday' } };
    expect(eventOf(odd).payload.published_at).toBe('2025-08-28T17:02:44.403Z');
  });
});

describe('other records', () => {
  const disconnectedBy = (disconnect_type: string) => ({
    errors: [
      { title: 'operational-disconnect', disconnect_type, type: 'https://x/problems/operational-disconnect' },
    ],
  });

  test.each<[record: object, kind: EndingKind, words: string]>([
    [disconnectedBy('OperationalDisconnect'), 'dropped', 'OperationalDisconnect'],
    [disconnectedBy('UpstreamOperationalDisconnect'), 'dropped', 'UpstreamOperationalDisconnect'],
    [disconnectedBy('UpstreamUncleanDisconnect'), 'dropped', 'UpstreamUncleanDisconnect'],
    [disconnectedBy('InternalError'), 'dropped', 'InternalError'],
    [disconnectedBy('ForceDisconnect'), 'displaced', 'ForceDisconnect'],
    [disconnectedBy('SlowReader'), 'slow_reader', 'SlowReader'],
    [disconnectedBy('InvalidRules'), 'rules_invalid', 'InvalidRules'],
    [disconnectedBy('ClientApplicationStateDegraded'), 'degraded', 'ClientApplicationStateDegraded'],
    [
      { errors: [{ type: 'https://x/problems/client-disconnected' }] },
      'dropped',
      'https://x/problems/client-disconnected',
    ],
    [{ title: 'UsageCapExceeded', type: 'https://x/problems/usage-capped' }, 'usage_cap', 'UsageCapExceeded'],
    [{ errors: [{ title: 'CreditsDepleted' }] }, 'no_credit', 'CreditsDepleted'],
    [{ errors: [{ title: 'SpendCapReached' }] }, 'spend_cap', 'SpendCapReached'],
    [
      {
        title: 'ConnectionException',
        connection_issue: 'TooManyConnections',
        type: 'https://x/streaming-connection',
      },
      'connection_in_use',
      'ConnectionException',
    ],
    // Unknown: its text is kept, and it is retried with back-off.
    [{ errors: [{ title: 'Surprise' }] }, 'failing', 'Surprise'],
    [{ errors: [{ code: 88 }] }, 'failing', '{"errors":[{"code":88}]}'],
    // A property that every object inherits is not a name of X.
    [{ title: 'constructor' }, 'failing', 'constructor'],
  ])('%j is a control message that ends the stream as %s', (record, kind, words) => {
    expect(read(record)).toMatchObject({ kind: 'control', ending: { kind }, words });
  });

  test('a post with partial errors is a post', () => {
    expect(read({ ...post, errors: [{ title: 'Not Found Error' }] }).kind).toBe('item');
  });

  test.each([
    { data: { id: 'abc', text: 'x' } },
    { data: { id: '1' } },
    { data: null },
    { data: { id: 1, text: 'x' }, errors: [] },
    { ...post, matching_rules: [{ id: 'a\0' }] },
    { ...post, matching_rules: [{ id: 'a', tag: '\0' }] },
    {},
    [],
    null,
    7,
  ])('%j is dropped as an unknown shape', (record) => {
    expect(read(record)).toEqual({ kind: 'dropped', reason: 'unknown_shape' });
  });

  test('broken JSON is dropped', () => {
    expect(readXRecord('x:main', '{"data":{"id":"1"')).toEqual({ kind: 'dropped', reason: 'not_json' });
  });
});

test('hostile input never throws, and events have a day and fit into JSON', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json({ maxDepth: 4 }),
    fc
      .record({
        data: fc.record(
          {
            id: fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 19n }).map(String), fc.anything()),
            text: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
            created_at: fc.oneof(fc.string(), fc.jsonValue()),
            author_id: fc.jsonValue(),
            __proto__: fc.jsonValue(),
          },
          { requiredKeys: [] },
        ),
        includes: fc.jsonValue(),
        matching_rules: fc.jsonValue(),
      })
      .map(
        (record) =>
          JSON.stringify(record, (_key, value) => (typeof value === 'bigint' ? `${value}` : value)) ?? '',
      ),
  );
  fc.assert(
    fc.property(anything, (text) => {
      const reading = readXRecord('x:main', text);
      if (reading.kind !== 'item') return;
      expect(reading.item.day).toMatch(/^\d{4}-\d\d-\d\d$/);
      expect(JSON.parse(JSON.stringify(reading.item))).toEqual(reading.item);
    }),
    { numRuns: 1_000 },
  );
}, 60_000);
