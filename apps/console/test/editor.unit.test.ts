import { languages } from '@earshot/query';
import type { Rule } from '@earshot/sdk';
import { expect, test } from 'vitest';
import { suggest } from '../src/screens/editor/completion.ts';
import { creationOf, draftOf, emptyDraft, missingIn, updateOf } from '../src/screens/editor/draft.ts';
import { planOf } from '../src/screens/editor/plan.ts';

const rule: Rule = {
  id: 'rule_1',
  name: 'Chips',
  intent: 'Chips that break',
  created_at: '2026-11-16T09:00:00.000Z',
  updated_at: '2026-11-16T09:00:00.000Z',
  version: 3,
  state: 'active',
  expires_at: null,
  budget: { period: 'day', usd: 5, on_reached: 'pause' },
  effective_budget: {
    period: 'day',
    usd: 5,
    on_reached: 'pause',
    spent: 0,
    remaining: 5,
    resets_at: null,
    reserved: 0,
    forecast: null,
  },
  pause: null,
  examples: null,
  relevance: null,
  alerts: null,
  managed_by: null,
  platforms: {
    x: {
      platform_rule_id: '1',
      value: 'chip lang:en',
      translated_value: 'chip lang:en',
      status: 'active',
      listening: { state: 'live', reason: null, since: null },
      rule_type: 'premium',
      last_match_at: null,
      match_count: 0,
    },
  },
};
const draft = draftOf(rule);

test('an update sends only the changed fields, and the version that it is based on', () => {
  expect(updateOf(rule, { ...draft, name: 'Broken chips' })).toEqual({
    rule_id: 'rule_1',
    if_version: 3,
    name: 'Broken chips',
  });
});

test('an unchanged form changes nothing', () => {
  expect(updateOf(rule, draft)).toEqual({ rule_id: 'rule_1', if_version: 3 });
  expect(planOf(draft, rule)).toEqual([]);
});

test('an empty amount removes the budget, and an unchecked platform is removed', () => {
  const changed = {
    ...draft,
    budget: { ...draft.budget, amount: '' },
    chosen: ['firehose'] as const,
    queries: { ...draft.queries, firehose: '"chip"' },
  };
  expect(updateOf(rule, changed)).toMatchObject({
    budget: null,
    platforms: ['firehose'],
    overrides: { firehose: '"chip"' },
  });
  expect(planOf(changed, rule).map(({ what, before, after }) => `${what}: ${before} → ${after}`)).toEqual([
    'Registered on Firehose: null → added:"chip"',
    'Budget: $5 per day, then the rule is paused → none; the operator’s default may apply',
    'Registered on X: chip lang:en → null',
  ]);
});

test('a new rule has only the queries and examples of the chosen platforms', () => {
  const example = (platform: 'x' | 'firehose') => ({ platform, payload: { text: 'a chip' } });
  const request = creationOf({
    ...emptyDraft,
    name: 'Chips',
    intent: 'Chips',
    queries: { x: 'chip', firehose: 'left over', bluesky: '' },
    examples: { must_match: [example('x'), example('firehose')], must_not_match: [] },
    budget: { ...emptyDraft.budget, amount: '2.5' },
  });
  expect(request).toMatchObject({
    platforms: ['x'],
    overrides: { x: 'chip' },
    budget: { period: 'day', usd: 2.5, on_reached: 'pause' },
    examples: { must_match: [example('x')] },
  });
  expect(request.overrides).not.toHaveProperty('firehose');
  expect(request).not.toHaveProperty('expires_at');
});

test('an example without a text is not saved and not counted', () => {
  const blank = { platform: 'x', payload: { text: ' ' } } as const;
  const withBlank = { ...draft, examples: { must_match: [], must_not_match: [blank] } };
  expect(updateOf(rule, withBlank)).toEqual({ rule_id: 'rule_1', if_version: 3 });
  expect(planOf(withBlank, rule)).toEqual([]);
  expect(creationOf(withBlank)).not.toHaveProperty('examples');
});

test('the sensitivity of alerts is saved, and off is sent as null', () => {
  expect(creationOf({ ...draft, alerts: 'low' })).toMatchObject({ alerts: 'low' });
  expect(creationOf(draft)).not.toHaveProperty('alerts');
  const alerting = { ...rule, alerts: 'high' } as const;
  expect(updateOf(alerting, { ...draft, alerts: 'off' })).toMatchObject({ alerts: null });
  expect(updateOf(alerting, draftOf(alerting))).not.toHaveProperty('alerts');
  expect(planOf({ ...draft, alerts: 'low' }, rule)).toMatchObject([
    { what: 'Alerts', before: null, after: 'low sensitivity' },
  ]);
});

test('the judge and its criteria are saved, and its other settings stay', () => {
  const judged = { judge: true, criteria: ['Names a chip', ' '] };
  const expected = { judge: true, criteria: ['Names a chip'] };
  expect(creationOf({ ...draft, ...judged })).toMatchObject({ relevance: expected });
  expect(creationOf(draft)).not.toHaveProperty('relevance');
  const limited = { ...expected, accept_unproven: true, usd_per_day: 2 };
  expect(updateOf({ ...rule, relevance: limited }, { ...draft, ...expected, judge: false })).toEqual({
    rule_id: 'rule_1',
    if_version: 3,
    relevance: { ...limited, judge: false },
  });
  expect(planOf({ ...draft, ...judged }, rule).map(({ what, after }) => `${what}: ${after}`)).toEqual([
    'Judge: checks whether new matches are relevant; Names a chip',
  ]);
});

test('a form that cannot be saved names what is missing', () => {
  const fields = (form: typeof draft) => missingIn(form).map(({ field }) => field);
  expect(fields(draft)).toEqual([]);
  expect(fields(emptyDraft)).toEqual(['name', 'intent', 'overrides.x']);
  expect(fields({ ...draft, chosen: [] })).toEqual(['platforms']);
  expect(fields({ ...draft, queries: { ...draft.queries, x: 'chip (' } })).toEqual(['overrides.x']);
});

test('the expiry is shown in the time zone of the browser', () => {
  const { expires } = draftOf({ ...rule, expires_at: '2026-12-31T10:30:00.000Z' });
  expect(new Date(expires).toISOString()).toBe('2026-12-31T10:30:00.000Z');
});

const guide = languages.x.guide();

test('completion suggests the operators that start with the word', () => {
  const found = suggest(guide, 'chip fro', 8);
  expect(found?.from).toBe(5);
  expect(found?.options.map(({ insert }) => insert)).toEqual(['from:', 'from_affiliate_of:']);
  expect(suggest(guide, '-is:re', 6)?.options.map(({ insert }) => insert)).toEqual([
    'is:retweet',
    'is:reply',
  ]);
});

test('completion names the tier that an operator needs, and suggests nothing in quotes', () => {
  expect(suggest(guide, 'embedding', 9)?.options[0]).toMatchObject({
    insert: 'embedding:',
    tier: 'embedding',
  });
  expect(suggest(guide, '"sent fro', 9)).toBeNull();
});
