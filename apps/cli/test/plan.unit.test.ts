import type { Rule } from '@earshot/sdk';
import { describe, expect, test } from 'vitest';
import { createRequest, deleteRequest, planRules, updateRequest } from '../src/rules-file/plan.ts';
import type { WantedRule } from '../src/rules-file/rules-file.ts';
import { onPlatform, ruleOf } from './rule-of.ts';

const set = 'launches';

function wanted(key: string, more: Partial<WantedRule> = {}): WantedRule {
  const common = {
    name: key,
    intent: 'to know',
    overrides: { x: 'rocket' },
    options: {},
    acceptSuspicious: false,
    expiresAt: null,
    budget: null,
    examples: null,
    relevance: null,
    alerts: null,
  };
  return { key, ...common, ...more };
}

const examples = {
  must_match: [{ platform: 'x' as const, payload: { text: 'rocket' } }],
  must_not_match: [],
};

const relevance = { judge: true, criteria: ['It is news'], accept_unproven: false, usd_per_day: null };

describe('planRules', () => {
  test('changes options that differ, and treats explicit defaults as unchanged', () => {
    const firehose = 'title:"a"';
    const overrides = { firehose };
    const rule = ruleOf('a');
    const [x] = Object.values(rule.platforms);
    if (!x) throw new Error('the rule has no platform');
    const registered = { ...rule, platforms: { firehose: { ...x, value: firehose } } };
    const plan = (options: object) =>
      planRules({ set, rules: [wanted('a', { overrides, options })] }, [registered]).updates;
    expect(plan({ firehose: { quality: true } })).toEqual([]);
    const [update] = plan({ firehose: { quality: false } });
    expect(update && updateRequest(update)).toMatchObject({ options: { firehose: { quality: false } } });
    expect(update && updateRequest(update)).not.toHaveProperty('overrides');
  });

  test('creates missing rules, deletes extra ones, and keeps the others', () => {
    const plan = planRules({ set, rules: [wanted('a'), wanted('b')] }, [ruleOf('b'), ruleOf('c')]);
    expect(plan).toMatchObject({ updates: [], unchanged: 1, others: 0 });
    expect(plan.creates.map(({ key }) => key)).toEqual(['a']);
    expect(plan.deletes.map(({ id }) => id)).toEqual(['rule_c']);
  });

  test('ignores rules without a set or of another set, even with the same name', () => {
    const others = [
      ruleOf('a', { id: 'rule_1', managed_by: null }),
      ruleOf('a', { id: 'rule_2', managed_by: { set: 'another', key: 'a' } }),
    ];
    const plan = planRules({ set, rules: [] }, [...others, ruleOf('a', { id: 'rule_3' })]);
    expect(plan.deletes.map(({ id }) => id)).toEqual(['rule_3']);
    expect(plan.others).toBe(2);
    expect(planRules({ set, rules: [wanted('a')] }, others)).toMatchObject({ creates: [{ key: 'a' }] });
  });

  test.each<[string, { wanted?: Partial<WantedRule>; present?: Partial<Rule>; from: unknown; to: unknown }]>([
    ['name', { wanted: { name: 'new' }, from: 'a', to: 'new' }],
    ['intent', { wanted: { intent: 'new' }, from: 'to know', to: 'new' }],
    ['overrides.x', { wanted: { overrides: { x: 'rockets' } }, from: 'rocket', to: 'rockets' }],
    [
      'overrides.firehose',
      { wanted: { overrides: { x: 'rocket', firehose: 'rocket' } }, from: null, to: 'rocket' },
    ],
    [
      'overrides.firehose',
      {
        present: { platforms: { x: onPlatform('rocket'), firehose: onPlatform('rocket') } },
        from: 'rocket',
        to: null,
      },
    ],
    [
      'expires_at',
      { wanted: { expiresAt: '2027-01-01T01:00:00+01:00' }, from: null, to: '2027-01-01T00:00:00.000Z' },
    ],
    ['examples', { wanted: { examples }, from: null, to: examples }],
    ['examples', { present: { examples }, from: examples, to: null }],
    ['relevance', { wanted: { relevance }, from: null, to: relevance }],
    ['relevance', { present: { relevance }, from: relevance, to: null }],
    ['alerts', { wanted: { alerts: 'low' }, from: null, to: 'low' }],
    ['alerts', { present: { alerts: 'high' }, from: 'high', to: null }],
  ])('changes %s when that alone differs', (field, { wanted: change, present, from, to }) => {
    const { updates, unchanged } = planRules({ set, rules: [wanted('a', change)] }, [ruleOf('a', present)]);
    expect(updates.map(({ changes }) => changes)).toEqual([[{ field, from, to }]]);
    expect(unchanged).toBe(0);
  });

  test('treats equal times, equal examples and paused rules as unchanged', () => {
    const same = wanted('a', { expiresAt: '2027-01-01T01:00:00+01:00', examples });
    const present = ruleOf('a', {
      expires_at: '2027-01-01T00:00:00.000Z',
      examples: structuredClone(examples),
      state: 'paused',
    });
    expect(planRules({ set, rules: [same] }, [present])).toMatchObject({ updates: [], unchanged: 1 });
  });
});

describe('requests', () => {
  test('an update sends the fields that differ, and the compared version', () => {
    const [update] = planRules({ set, rules: [wanted('a', { name: 'new' })] }, [ruleOf('a')]).updates;
    expect(update && updateRequest(update)).toEqual({ rule_id: 'rule_a', if_version: 3, name: 'new' });
    const overrides = { firehose: 'rocket' };
    const [moved] = planRules({ set, rules: [wanted('a', { overrides })] }, [ruleOf('a')]).updates;
    expect(moved && updateRequest(moved)).toEqual({
      rule_id: 'rule_a',
      if_version: 3,
      platforms: ['firehose'],
      overrides,
    });
    const [unjudged] = planRules({ set, rules: [wanted('a')] }, [ruleOf('a', { relevance })]).updates;
    expect(unjudged && updateRequest(unjudged)).toEqual({
      rule_id: 'rule_a',
      if_version: 3,
      relevance: null,
    });
  });

  test('a rule that accepts likely mistakes sends accept_suspicious with its queries', () => {
    const suspicious = wanted('a', { acceptSuspicious: true, overrides: { x: 'rocket NOT cake' } });
    expect(createRequest(set, suspicious)).toMatchObject({ accept_suspicious: true });
    const [changed] = planRules({ set, rules: [suspicious] }, [ruleOf('a')]).updates;
    expect(changed && updateRequest(changed)).toMatchObject({ accept_suspicious: true });
  });

  test('a creation has the set and key, and a deletion the version', () => {
    expect(createRequest(set, wanted('a', { examples, relevance }))).toEqual({
      name: 'a',
      intent: 'to know',
      platforms: ['x'],
      overrides: { x: 'rocket' },
      examples,
      relevance,
      managed_by: { set, key: 'a' },
    });
    expect(deleteRequest(ruleOf('a'))).toEqual({ rule_id: 'rule_a', if_version: 3 });
  });
});
