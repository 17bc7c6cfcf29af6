import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cronProblem, nextTimeMs, type Schedule } from './schedule.ts';

const hourMs = 3_600_000;

/** The times of a schedule after one time and up to another. */
function timesOf(schedule: Schedule, from: string, to: string): string[] {
  const times: string[] = [];
  for (let at = nextTimeMs(schedule, Date.parse(from)); at <= Date.parse(to); at = nextTimeMs(schedule, at))
    times.push(new Date(at).toISOString().replace(':00.000', ''));
  return times;
}

/** Local time according to the system's zone data. */
function wallTime(atMs: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  return format.format(new Date(atMs));
}

describe('a fixed time of the day', () => {
  test.each([
    [
      'that is skipped is due when the clock jumps',
      { cron: '30 2 * * *', timeZone: 'Europe/Berlin' },
      ['2026-03-28T01:30Z', '2026-03-29T01:00Z', '2026-03-30T00:30Z'],
      '2026-03-27T12:00Z',
    ],
    [
      'that occurs twice is due the first time',
      { cron: '30 2 * * *', timeZone: 'Europe/Berlin' },
      ['2026-10-24T00:30Z', '2026-10-25T00:30Z', '2026-10-26T01:30Z'],
      '2026-10-23T12:00Z',
    ],
    [
      'that is skipped in New York',
      { cron: '30 2 * * *', timeZone: 'America/New_York' },
      ['2026-03-07T07:30Z', '2026-03-08T07:00Z', '2026-03-09T06:30Z'],
      '2026-03-06T12:00Z',
    ],
    [
      'that occurs twice in New York',
      { cron: '30 1 * * *', timeZone: 'America/New_York' },
      ['2026-10-31T05:30Z', '2026-11-01T05:30Z', '2026-11-02T06:30Z'],
      '2026-10-30T12:00Z',
    ],
    [
      'at midnight, if midnight is skipped',
      { cron: '0 0 * * *', timeZone: 'America/Santiago' },
      ['2026-09-05T04:00Z', '2026-09-06T04:00Z', '2026-09-07T03:00Z'],
      '2026-09-04T12:00Z',
    ],
  ] as const)('%s', (_, schedule, expected, from) => {
    const last = expected.at(-1) ?? from;
    expect(timesOf(schedule, from, last)).toEqual(expected);
  });

  test.each(['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata'])(
    'is due once on each day of a year in %s',
    (timeZone) => {
      for (const [hour, minute] of [
        [1, 45],
        [2, 15],
      ]) {
        const times = timesOf(
          { cron: `${minute} ${hour} * * *`, timeZone },
          '2026-01-01T12:00Z',
          '2027-01-01T12:00Z',
        );
        const days = times.map((time) => wallTime(Date.parse(time), timeZone).slice(0, 10));
        expect(new Set(days).size).toBe(times.length);
        expect(times).toHaveLength(365);
      }
    },
  );
});

test('steps follow elapsed time across both clock changes', () => {
  for (const [from, to] of [
    ['2026-03-28T12:00Z', '2026-03-29T12:00Z'],
    ['2026-10-24T12:00Z', '2026-10-25T12:00Z'],
  ] as const) {
    const times = timesOf({ cron: '*/30 * * * *', timeZone: 'Europe/Berlin' }, from, to);
    expect(times).toHaveLength(48);
  }
});

const zones = ['Europe/Berlin', 'America/New_York', 'America/Santiago', 'Australia/Lord_Howe', 'UTC'];
const anySchedule = fc.oneof(
  fc
    .record({
      windowSeconds: fc.integer({ min: 30, max: 86_400 }),
      sinceMs: fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 }),
    })
    .map((schedule): Schedule => schedule),
  fc
    .record({
      minute: fc.oneof(fc.integer({ min: 0, max: 59 }).map(String), fc.constantFrom('*', '*/7', '0,30')),
      hour: fc.oneof(fc.integer({ min: 0, max: 23 }).map(String), fc.constantFrom('*', '*/3', '1-4')),
      weekday: fc.constantFrom('*', '1-5', '0'),
      timeZone: fc.constantFrom(...zones),
    })
    .map(
      ({ minute, hour, weekday, timeZone }): Schedule => ({
        cron: `${minute} ${hour} * * ${weekday}`,
        timeZone,
      }),
    ),
);

/** Times around a clock change in some of the zones, or anywhere. */
const anyTime = fc.oneof(
  fc
    .record({
      change: fc.constantFrom(
        '2026-03-08T07:00Z',
        '2026-03-29T01:00Z',
        '2026-04-04T15:00Z',
        '2026-09-06T04:00Z',
        '2026-10-03T15:30Z',
        '2026-10-25T01:00Z',
        '2026-11-01T06:00Z',
      ),
      offsetMs: fc.integer({ min: -4 * hourMs, max: 4 * hourMs }),
    })
    .map(({ change, offsetMs }) => Date.parse(change) + offsetMs),
  fc.integer({ min: 1_760_000_000_000, max: 1_790_000_000_000 }),
);

test('the next time is the first later one: none is due twice and none is skipped', () => {
  fc.assert(
    fc.property(
      anySchedule,
      anyTime,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (schedule, askedMs, part) => {
        const first = nextTimeMs(schedule, askedMs);
        expect(first).toBeGreaterThan(askedMs);
        const second = nextTimeMs(schedule, first);
        expect(second).toBeGreaterThan(first);
        // Every time in between has the same next time.
        expect(nextTimeMs(schedule, askedMs + Math.floor(part * (first - 1 - askedMs)))).toBe(first);
        expect(nextTimeMs(schedule, first + Math.floor(part * (second - 1 - first)))).toBe(second);
        // After the clock was set back an hour, counting from the last time continues there.
        expect(nextTimeMs(schedule, Math.max(first, first - hourMs))).toBe(second);
      },
    ),
    { numRuns: 500 },
  );
});

test.each([
  ['0 9 * * 1-5', 'Europe/Berlin', null],
  ['0 9 * * MON-FRI', 'UTC', null],
  ['0 9 * *', 'UTC', 'cron'],
  ['0 0 9 * * *', 'UTC', 'cron'],
  ['@daily', 'UTC', 'cron'],
  ['61 9 * * *', 'UTC', 'cron'],
  ['0 9 31 2 *', 'UTC', 'cron'],
  ['0 9 * * *', 'Mars/Olympus', 'time_zone'],
])('"%s" in %s is refused for %s', (cron, timeZone, field) => {
  expect(cronProblem(cron, timeZone)?.field ?? null).toBe(field);
});
