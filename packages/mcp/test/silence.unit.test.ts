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
  listening: { state: 'live', reason: null, since: hoursAgo(5) },
  rule_type: 'premium',
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
  effective_budget: null,
  pause: null,
  examples: null,
  relevance: null,
  alerts: null,
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

describe('silenceOfRule', () => {
  test('calls a rule without gaps too narrow', () => {
    const { why, try_next } = explain(rule());
    expect(why).toContain('created 5 h ago and is active');
    expect(why).toContain(`On x it has been live since ${hoursAgo(5)} (5 h ago)`);
    expect(try_next).toContain('too narrow');
  });

  test('does not judge a new rule', () => {
    const young = watched({ listening: { state: 'live', reason: null, since: hoursAgo(0.1) } });
    expect(explain(rule({ platforms: { x: young } })).try_next).toContain('too early');
  });

  test('says when a platform is expected to apply the rule', () => {
    const starting = watched({ listening: { state: 'starting', reason: null, since: hoursAgo(-0.01) } });
    const { why, try_next } = explain(rule({ platforms: { x: starting } }));
    expect(why).toContain(
      `it is starting: the platform has the rule and applies it from about ${hoursAgo(-0.01)}`,
    );
    expect(try_next).toContain('too early');
  });

  test('names the reason why nothing is received', () => {
    const down = watched({ listening: { state: 'down', reason: 'no_credit', since: hoursAgo(1) } });
    const { why, try_next } = explain(rule({ platforms: { x: down } }));
    expect(why).toContain(`On x nothing is received since ${hoursAgo(1)} (60 min ago): no_credit`);
    expect(try_next).toContain('list_notices');
  });

  test('suggests to resume a paused rule', () => {
    const listening = { state: 'paused', reason: null, since: null } as const;
    const paused = rule({ state: 'paused', platforms: { x: watched({ status: 'paused', listening }) } });
    expect(explain(paused)).toMatchObject({
      why: expect.stringContaining('is paused'),
      try_next: 'resume_rule',
    });
  });

  test('suggests a new expires_at for an expired rule', () => {
    const expired = rule({ state: 'paused', expires_at: hoursAgo(1) });
    expect(explain(expired).try_next).toContain('new expires_at');
  });

  test('names a platform that refuses the rule', () => {
    const listening = { state: 'down', reason: 'refused', since: null } as const;
    const refused = rule({ platforms: { x: watched({ status: 'failed', listening }) } });
    expect(explain(refused)).toMatchObject({
      why: expect.stringContaining('On x nothing is received: refused'),
      try_next: expect.stringContaining('refuses'),
    });
  });

  test('lists the last three gaps that are not repaired', () => {
    const { why, try_next } = explain(rule(), [gap(5), gap(4), gap(3), gap(2, true), gap(1)]);
    expect(why).toContain('4 gaps; the last ones');
    expect(why.match(/Gap on x/g)).toHaveLength(3);
    expect(why).not.toContain(`from ${hoursAgo(2)} to`);
    expect(try_next).toContain('get_coverage');
  });

  test('counts the matches outside of the requested part', () => {
    const busy = rule({ platforms: { x: watched({ match_count: 7 }) } });
    expect(explain(busy, [], true).why).toContain('7 matches outside of your request');
  });
});
