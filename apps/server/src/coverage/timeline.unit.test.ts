import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { bestOf, clip, filled, type Span, type SpanState, type Timeline, worstOf } from './timeline.ts';

const states: readonly SpanState[] = ['live', 'repaired', 'gap', 'not_watched'];

/** Spans between 0 and 60, in order and without overlap. */
const anyTimeline: fc.Arbitrary<Timeline> = fc
  .array(
    fc.record({ skip: fc.nat(4), length: fc.integer({ min: 1, max: 8 }), state: fc.constantFrom(...states) }),
    { maxLength: 6 },
  )
  .map((parts) => {
    let at = 0;
    return parts.map(({ skip, length, state }): Span => {
      const from = at + skip;
      at = from + length;
      return { from, to: at, state, reason: null, repair: null };
    });
  });

const stateAt = (timeline: Timeline, moment: number) =>
  timeline.find(({ from, to }) => from <= moment && moment < to)?.state ?? null;

const moments = Array.from({ length: 80 }, (_, n) => n + 0.5);

/** The reference implementation checks every timeline at every moment. */
function pick(timelines: readonly Timeline[], moment: number, order: readonly SpanState[]) {
  const found = timelines.map((timeline) => stateAt(timeline, moment));
  return order.find((state) => found.includes(state)) ?? null;
}

test.each([
  ['best', bestOf, ['live', 'repaired', 'gap', 'not_watched']],
  ['worst', worstOf, ['gap', 'repaired', 'live', 'not_watched']],
] as const)('the %s of several timelines equals the reference at each moment', (_name, combine, order) => {
  fc.assert(
    fc.property(fc.array(anyTimeline, { maxLength: 4 }), (timelines) => {
      const combined = combine(timelines);
      for (const moment of moments) expect(stateAt(combined, moment)).toBe(pick(timelines, moment, order));
    }),
  );
});

test('a combined timeline is ordered, has no overlaps, and equal neighbours are merged', () => {
  fc.assert(
    fc.property(fc.array(anyTimeline, { maxLength: 4 }), (timelines) => {
      const combined = bestOf(timelines);
      combined.forEach((span, index) => {
        const before = combined[index - 1];
        expect(span.from).toBeLessThan(span.to);
        if (before) expect(span.from).toBeGreaterThanOrEqual(before.to);
        if (before?.to === span.from) expect(span.state).not.toBe(before.state);
      });
    }),
  );
});

test('clips to the window and fills uncovered time with not_watched', () => {
  fc.assert(
    fc.property(anyTimeline, fc.nat(30), fc.integer({ min: 1, max: 30 }), (timeline, from, length) => {
      const to = from + length;
      const full = filled(clip(timeline, from, to), from, to);
      for (const moment of moments) {
        const inside = moment > from && moment < to;
        const expected = inside ? (stateAt(timeline, moment) ?? 'not_watched') : null;
        expect(stateAt(full, moment)).toBe(expected);
      }
    }),
  );
});
