import { expect, test } from 'vitest';
import { judgeReplay, type ReplayEvidence } from './replay.ts';

const at = (second: number) => new Date(Date.UTC(2026, 8, 1, 10) + second * 1_000);
/** A gap from second 0 to second 60, ended by a new connection. */
const gap = { id: 1, from: at(0), to: at(60), planned: false };
const keptMs = 23 * 3_600_000;
const judge = (
  event: { logged: number; matched: number | null } | null,
  more: Partial<ReplayEvidence['latest']> = {},
) =>
  judgeReplay(gap, {
    lastEvent: event && {
      loggedAt: at(event.logged),
      matchedAt: event.matched === null ? null : at(event.matched),
    },
    latest: { from: at(60), provenUntil: at(64), ...more },
    keptMs,
  });

test('an event from after the gap proves that the replay has passed it', () => {
  expect(judge({ logged: 62, matched: 66 })).toBe('through');
});

test('an event from the gap, or within the clock tolerance of its end, proves nothing', () => {
  expect(judge({ logged: 62, matched: 30 })).toBe('not_yet');
  expect(judge({ logged: 62, matched: 64 })).toBe('not_yet');
  expect(judge({ logged: 62, matched: null })).toBe('not_yet');
});

test('an event newer than the last proof proves nothing yet', () => {
  expect(judge({ logged: 63.5, matched: 80 })).toBe('not_yet');
});

test('an open, silent stream has nothing left to replay', () => {
  expect(judge(null, { provenUntil: at(71) })).toBe('through');
  expect(judge({ logged: 1, matched: 1 }, { provenUntil: at(71) })).toBe('through');
  expect(judge(null, { provenUntil: at(69) })).toBe('not_yet');
});

test('a stream that replayed a moment ago is not silent', () => {
  expect(judge({ logged: 65, matched: 30 }, { provenUntil: at(71) })).toBe('not_yet');
});

test('silence is measured from the start of the connection', () => {
  expect(judge({ logged: 1, matched: 1 }, { from: at(100), provenUntil: at(105) })).toBe('not_yet');
});

test('a gap that is longer than what Firehose keeps is not repaired', () => {
  const evidence = { lastEvent: null, latest: { from: at(0), provenUntil: at(100 * 3_600) }, keptMs };
  expect(judgeReplay({ ...gap, to: at(23 * 3_600 + 1) }, evidence)).toBe('too_long');
  expect(judgeReplay({ ...gap, to: at(22 * 3_600) }, evidence)).toBe('through');
});
