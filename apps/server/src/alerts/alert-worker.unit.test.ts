import { expect, test } from 'vitest';
import type { Span } from '../coverage/timeline.ts';
import { coveredSeconds } from './alert-worker.ts';

const minutes = (count: number) => count * 60_000;
const span = (from: number, to: number, state: Span['state']): Span => ({
  from: minutes(from),
  to: minutes(to),
  state,
  reason: null,
  repair: null,
});

test('what is live or repaired covers its part of each 15 minutes, and nothing else does', () => {
  const timeline = [
    span(-60, 10, 'live'),
    span(10, 20, 'gap'),
    span(20, 30, 'repaired'),
    span(30, 40, 'starting'),
    span(40, 45, 'not_watched'),
    span(45, 500, 'live'),
  ];
  const seconds = coveredSeconds(timeline, 0, minutes(75));
  expect([...seconds]).toEqual([
    [minutes(0), 600],
    [minutes(15), 600],
    [minutes(30), 0],
    [minutes(45), 900],
    [minutes(60), 900],
  ]);
});
