import { describe, expect, test } from 'vitest';
import { createTraces, type Span } from './traces.ts';

/** Stands in for a collector; `isSampled` replaces the ratio. */
function startTraces(installation = 'one', isSampled: (traceId: string) => boolean = () => true) {
  const spans: Span[] = [];
  const record = (span: Span) => span.spanId ?? `random-${spans.length}`;
  const traces = createTraces(installation, {
    isSampled,
    record: (span) => {
      const spanId = record(span);
      spans.push({ ...span, spanId });
      return spanId;
    },
  });
  return { traces, spans };
}

const event = {
  platform: 'x',
  sourceId: 'x:main',
  key: '17',
  receivedMs: 1_000,
  rules: [{ upstreamRuleId: 'a' }],
};
const logged = { seq: 1, duplicate: false };
const taken = { startMs: 2_000, sequence: 1, deliveries: 1, outcome: 'stored' as const };
const match = { matchId: 'mat_1', ruleId: 'rule_1', platform: 'x', eventKey: '17' };
const attempt = {
  webhookId: 'whk_1',
  messageId: 'msg_1',
  nth: 1,
  outcome: 'delivered',
  status: 200,
  startMs: 3_000,
  endMs: 3_001,
};

describe('separate processes', () => {
  test('derive the same trace and the same parents', () => {
    const [ingest, matching, deliver] = [startTraces(), startTraces(), startTraces()];
    ingest.traces.eventAppended(event, 1_001, logged);
    matching.traces.eventMatched(event, { ...taken, stored: [match] });
    deliver.traces.webhookAttempted({ ...attempt, matches: [match] });
    const [receive, append] = ingest.spans;
    const [matched, store] = matching.spans;
    expect(append?.parentId).toBe(receive?.spanId);
    expect(matched?.parentId).toBe(append?.spanId);
    expect(store?.parentId).toBe(matched?.spanId);
    expect(deliver.spans[0]?.parentId).toBe(store?.spanId);
    const all = [...ingest.spans, ...matching.spans, ...deliver.spans];
    expect(all.map(({ name }) => name)).toEqual(['receive', 'append', 'match', 'store', 'deliver']);
    expect(new Set(all.map(({ traceId }) => traceId)).size).toBe(1);
    for (const { traceId, spanId } of [append, store].filter((span) => span !== undefined)) {
      expect(traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(spanId).toMatch(/^[0-9a-f]{16}$/);
    }
  });

  test('check an item by the same id, and record nothing if it is not sampled', () => {
    const checked: string[] = [];
    const { traces, spans } = startTraces('one', (traceId) => {
      checked.push(traceId);
      return false;
    });
    traces.eventAppended(event, 1_001, logged);
    traces.eventMatched(event, { ...taken, stored: [match] });
    traces.webhookAttempted({ ...attempt, matches: [match] });
    expect(traces.isTraced('x', '17')).toBe(false);
    expect(checked).toHaveLength(4);
    expect(new Set(checked).size).toBe(1);
    expect(spans).toEqual([]);
  });
});

test('two installations have different traces for the same post', () => {
  const [one, two] = [startTraces('one'), startTraces('two')];
  for (const { traces } of [one, two]) traces.eventAppended(event, 1_001, logged);
  expect(one.spans[0]?.traceId).not.toBe(two.spans[0]?.traceId);
});

test.each([
  ['delivered again', { receivedMs: 5_000 }],
  ['delivered by another source', { sourceId: 'x:second' }],
  ['found for another rule', { rules: [{ upstreamRuleId: 'b' }] }],
])('an item that is %s has the same trace with new spans', (_, changed) => {
  const { traces, spans } = startTraces();
  traces.eventAppended(event, 1_001, logged);
  traces.eventAppended({ ...event, ...changed }, 5_001, { seq: 1, duplicate: true });
  expect(spans.map(({ name }) => name)).toEqual(['receive', 'append', 'receive', 'append']);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(4);
});

test('the trace of an item that repairs a gap starts with its append', () => {
  const { traces, spans } = startTraces();
  const { receivedMs: _, ...fetched } = event;
  traces.eventAppended({ ...fetched, via: 'search' }, 1_001, logged);
  traces.eventMatched({ ...fetched, via: 'search' }, { ...taken, stored: [] });
  expect(spans).toMatchObject([
    { name: 'append', parentId: null, attributes: { 'earshot.via': 'search' } },
    { name: 'match', parentId: spans[0]?.spanId },
  ]);
});

test('an event that the log refused has failed', () => {
  const { traces, spans } = startTraces();
  traces.eventAppended(event, 1_001, null);
  expect(spans.map(({ failed }) => failed)).toEqual([true, true]);
});

test('an event with thousands of matches has 100 match spans and the total number', () => {
  const { traces, spans } = startTraces();
  const stored = Array.from({ length: 3_000 }, (_, n) => ({ ...match, matchId: `mat_${n}` }));
  traces.eventMatched(event, { ...taken, stored });
  expect(spans).toHaveLength(101);
  expect(spans[0]?.attributes['earshot.matches']).toBe(3_000);
});
