import type { Coverage } from '@earshot/contract';
import type { Rule } from '@earshot/sdk';
import { describe, expect, test } from 'vitest';
import { silenceOfRule } from '../src/silence.ts';

const now = Date.parse('2026-11-14T12:00:00.000Z');
const hoursAgo = (hours: number) => new Date(now - hours * 3_600_000).toISOString();

type Watched = NonNullable<Rule['platforms']['x']>;

const watched = (fields: Partial<Watched> = {}): Watched => ({
  platform_rule_id: '1',
  value: 'cats',
  translated_value: 'cats',
  status: 'active',
  heard: 'live',
  heard_reason: null,
  rule_type: 'premium',
  active_since: hoursAgo(5),
  last_match_at: null,
  match_count: 0,
  ...fields,
});

const rule = (fields: Partial<Rule> = {}): Rule => ({
  id: 'rule_1',
  name: 'Cats',
  intent: 'Cats',
  created_at: hoursAgo(5),
  updated_at: hoursAgo(5),
  version: 1,
  state: 'active',
  expires_at: null,
  budget: null,
  paused_for: null,
  examples: null,
  managed_by: null,
  platforms: { x: watched() },
  ...fields,
});

const gap = (from: number, repaired = false): Coverage['gaps'][number] => ({
  platform: 'x',
  from: hoursAgo(from),
  to: hoursAgo(from - 0.5),
  reason: 'dropped',
  repaired,
});

function explain(of: Rule, gaps: Coverage['gaps'] = [], narrowed = false) {
  const coverage = { complete_through: hoursAgo(0), gaps };
  const { why, try_next } = silenceOfRule(of, { coverage, narrowed }, now);
  return { why: why.join('\n'), try_next };
}

describe('why a rule has no match', () => {
  test('it was heard all the time: it is too narrow', () => {
    const { why, try_next } = explain(rule());
    expect(why).toContain('created 5 h ago and is active');
    expect(why).toContain(`On x it has been active since ${hoursAgo(5)} (5 h ago)`);
    expect(try_next).toContain('too narrow');
  });

  test('it is new: too early to judge', () => {
    const { try_next } = explain(rule({ platforms: { x: watched({ active_since: hoursAgo(0.1) }) } }));
    expect(try_next).toContain('too early');
  });

  test('it is starting', () => {
    const starting = watched({ heard: 'starting', heard_from: hoursAgo(-0.01), active_since: hoursAgo(0) });
    const { why, try_next } = explain(rule({ platforms: { x: starting } }));
    expect(why).toContain(
      `it is starting: the platform has the rule and applies it from about ${hoursAgo(-0.01)}`,
    );
    expect(try_next).toContain('too early');
  });

  test('its source is not heard', () => {
    const silent = watched({ heard: 'not_heard', heard_reason: 'no_credit' });
    expect(explain(rule({ platforms: { x: silent } })).why).toContain(
      'On x nothing is being received: no_credit',
    );
  });

  test('it is paused: resume it', () => {
    const paused = rule({ state: 'paused', platforms: { x: watched({ status: 'paused' }) } });
    expect(explain(paused)).toMatchObject({
      why: expect.stringContaining('is paused'),
      try_next: 'resume_rule',
    });
  });

  test('it has expired: a new time first', () => {
    const expired = rule({ state: 'paused', expires_at: hoursAgo(1) });
    expect(explain(expired).try_next).toContain('new expires_at');
  });

  test('a platform refuses it', () => {
    const refused = rule({
      platforms: { x: watched({ status: 'failed', heard: 'not_heard', heard_reason: 'refused' }) },
    });
    expect(explain(refused)).toMatchObject({
      why: expect.stringContaining('nothing is being received: refused'),
      try_next: expect.stringContaining('refuses'),
    });
  });

  test('nobody was listening: the gaps that were not made good, the last three of them', () => {
    const { why, try_next } = explain(rule(), [gap(5), gap(4), gap(3), gap(2, true), gap(1)]);
    expect(why).toContain('4 gaps; the last ones');
    expect(why.match(/Gap on x/g)).toHaveLength(3);
    expect(why).not.toContain(`from ${hoursAgo(2)} to`);
    expect(try_next).toContain('get_coverage');
  });

  test('it has matches, but not in what was asked for', () => {
    const busy = rule({ platforms: { x: watched({ match_count: 7 }) } });
    expect(explain(busy, [], true).why).toContain('7 matches outside of what you asked for');
  });
});
