import type { Rule } from '@earshot/sdk';
import { expect, test } from 'vitest';
import { describeSilence, type SilenceFacts } from '../src/screens/feed/silence.ts';

const now = new Date('2026-11-16T12:00:00.000Z');
const at = (clock: string) => `2026-11-16T${clock}:00.000Z`;
// Only the state of the rules is used.
const rules = [{ state: 'active' }] as unknown as readonly Rule[];
const interval = (
  state: 'live' | 'gap' | 'repaired' | 'starting' | 'not_watched',
  from: string,
  to: string | null,
) => ({ platform: 'x', state, from: at(from), to: to && at(to), reason: null, repair: null }) as const;
const describe = (changes: Partial<SilenceFacts>) =>
  describeSilence({ rules, intervals: [], isRange: false, now, ...changes });
const clock = (time: string) => new Date(at(time)).toLocaleTimeString(undefined, { timeStyle: 'medium' });

test('reports since when there is uninterrupted coverage', () => {
  const { lines } = describe({
    intervals: [interval('gap', '08:00', '09:12'), interval('live', '09:12', '12:00')],
  });
  expect(lines).toEqual([
    `X: covered without a gap since ${clock('09:12')}, and nothing matched; before that, a gap.`,
  ]);
});

test('a repaired gap does not interrupt the coverage', () => {
  const intervals = [
    interval('live', '08:00', '09:00'),
    interval('repaired', '09:00', '09:10'),
    interval('live', '09:10', '12:00'),
  ];
  expect(describe({ intervals }).lines[0]).toBe(
    `X: covered or repaired since ${clock('08:00')}, and nothing matched.`,
  );
});

test('reports an ongoing gap as disconnected, and links to the gaps', () => {
  const { lines, link } = describe({
    intervals: [interval('live', '08:00', '09:40'), interval('gap', '09:40', null)],
  });
  expect(lines).toEqual([`X: disconnected since ${clock('09:40')}. Reason unknown.`]);
  expect(link?.href).toBe('/coverage');
});

test('a rule that the platform does not apply yet is not reported as covered', () => {
  const { lines } = describe({ intervals: [interval('starting', '11:59', '12:01')] });
  expect(lines).toEqual([`X: the platform will apply the rule from ${clock('12:01')} on.`]);
});

test('links to the form for a new rule if there are no rules', () => {
  expect(describe({ rules: [] }).link?.href).toBe('/rules/new');
});
