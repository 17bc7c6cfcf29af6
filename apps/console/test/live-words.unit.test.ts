import type { Rule } from '@earshot/sdk';
import { expect, test } from 'vitest';
import { disconnectedPlatforms, receivingState } from '../src/api/disconnected.ts';
import { describeLive } from '../src/screens/feed/live-words.ts';

const now = new Date('2026-11-16T12:00:00.000Z');
const at = (clock: string) => `2026-11-16T${clock}:00.000Z`;
const clock = (time: string) => new Date(at(time)).toLocaleTimeString(undefined, { timeStyle: 'medium' });
type Listening = NonNullable<Rule['platforms']['x']>['listening'];
// Only `listening` is used.
const rule = (x: Listening, firehose?: Listening) =>
  ({
    platforms: { x: { listening: x }, ...(firehose && { firehose: { listening: firehose } }) },
  }) as unknown as Rule;
const down = (time: string, reason = 'failing'): Listening => ({ state: 'down', reason, since: at(time) });
const live: Listening = { state: 'live', reason: null, since: null };
const describe = (rules: readonly Rule[], isPaused = false) =>
  describeLive({
    connection: 'live',
    isPaused,
    disconnected: disconnectedPlatforms(rules),
    receiving: receivingState(rules),
    now,
  });

test('an open feed is not live while a platform of its rules does not receive', () => {
  expect(describe([rule(live, live)])).toEqual({ state: 'live', words: 'Live' });
  const words = `X: not receiving since ${clock('11:34')}`;
  for (const isPaused of [false, true])
    expect(describe([rule(down('11:36'), live), rule(down('11:34'))], isPaused)).toEqual({
      state: 'down',
      words,
    });
  expect(describe([rule(down('11:36'), down('11:50'))]).words).toBe(
    `X: not receiving since ${clock('11:36')}. Firehose: not receiving since ${clock('11:50')}`,
  );
});

test('a rule that the platform refuses, does not have yet or does not apply is no outage', () => {
  for (const reason of ['refused', 'not_registered'])
    expect(disconnectedPlatforms([rule(down('11:36', reason))])).toEqual([]);
  expect(disconnectedPlatforms([rule({ state: 'starting', reason: null, since: at('12:01') })])).toEqual([]);
  expect(disconnectedPlatforms([rule({ state: 'paused', reason: null, since: null })])).toEqual([]);
});

test('an open feed is live only if one of its rules is received', () => {
  const paused: Listening = { state: 'paused', reason: null, since: null };
  const starting: Listening = { state: 'starting', reason: null, since: at('12:01') };
  const idle = { state: 'none', words: 'Not receiving: no rule is active' };
  expect(describe([])).toEqual(idle);
  expect(describe([rule(paused), rule(down('11:36', 'refused'))])).toEqual(idle);
  expect(describe([rule(paused), rule(starting)]).words).toBe('Starting …');
  expect(describe([rule(paused, live)])).toEqual({ state: 'live', words: 'Live' });
  expect(receivingState([rule(paused, live)], 'x')).toBe('none');
  expect(
    describeLive({ connection: 'live', isPaused: false, disconnected: [], receiving: null, now }).words,
  ).toBe('Connecting …');
});
