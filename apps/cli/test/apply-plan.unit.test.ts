import { type CallOptions, type Earshot, EarshotError } from '@earshot/sdk';
import { expect, test } from 'vitest';
import { applyPlan } from '../src/rules-file/apply-plan.ts';
import { planRules } from '../src/rules-file/plan.ts';
import type { WantedRule } from '../src/rules-file/rules-file.ts';
import { ruleOf } from './rule-of.ts';

function wanted(key: string): WantedRule {
  return {
    key,
    name: key,
    intent: 'new',
    overrides: { x: 'rocket' },
    options: {},
    acceptSuspicious: false,
    expiresAt: null,
    budget: null,
    examples: null,
    relevance: null,
    alerts: null,
  };
}

const plan = planRules(
  { set: 'launches', rules: ['a', 'b', 'c'].map(wanted) },
  ['b', 'd'].map((key) => ruleOf(key)),
);

type Caller = Pick<Earshot, 'createRule' | 'updateRule' | 'deleteRule'>;

/** Records the idempotency keys. `fail` may throw for a call. */
function recording(fail: (call: string) => void = () => undefined) {
  const keys: (string | undefined)[] = [];
  const record = (call: string, options?: CallOptions) => {
    keys.push(options?.idempotencyKey);
    fail(call);
  };
  const caller: Caller = {
    createRule: async (request, options) => {
      record(`create ${request.managed_by?.key}`, options);
      return { ...ruleOf('a'), rule_id: 'rule_new', platforms: {} };
    },
    updateRule: async (request, options) => {
      record('update', options);
      return ruleOf('b', { id: request.rule_id });
    },
    deleteRule: async (request, options) => {
      record('delete', options);
      return { rule_id: request.rule_id, deleted_at: '2026-11-14T22:46:00.000Z' };
    },
  };
  return { caller, keys };
}

async function outcomesOf(
  caller: Caller,
  { of = plan, stop = new AbortController().signal } = {},
): Promise<string[]> {
  const outcomes = await applyPlan(of, {
    earshot: caller,
    acceptsEstimate: false,
    stop,
    report: () => undefined,
  });
  return outcomes.map(({ action, key, outcome }) => `${action} ${key} ${outcome}`);
}

test('changes and deletions have the same idempotency keys in every run, and creations have none', async () => {
  const [first, second] = [recording(), recording()];
  expect(await outcomesOf(first.caller)).toEqual([
    'update b done',
    'create a done',
    'create c done',
    'delete d done',
  ]);
  await outcomesOf(second.caller);
  expect(second.keys).toEqual(first.keys);
  expect(first.keys).toEqual([
    expect.stringMatching(/^apply-update-[0-9a-f]{64}$/),
    undefined,
    undefined,
    expect.stringMatching(/^apply-delete-[0-9a-f]{64}$/),
  ]);
});

const budget = { period: 'day', usd: 1, on_reached: 'pause' } as const;

test.each([
  [
    'a failure of one rule does not stop the others',
    'create a',
    new EarshotError('no', { code: 'invalid_argument' }),
    ['update b done', 'create a failed', 'create c done', 'delete d done'],
  ],
  [
    'a failure that affects all steps stops them',
    'update',
    new EarshotError('away', { code: 'unavailable' }),
    ['update b failed', 'create a not_tried', 'create c not_tried', 'delete d not_tried'],
  ],
  [
    'a rule outside of the budget of the key does not stop the others',
    'update',
    new EarshotError('no', { code: 'permission_denied', details: { request_id: 'r', budget } }),
    ['update b failed', 'create a done', 'create c done', 'delete d done'],
  ],
])('%s', async (_what, failing, error, outcomes) => {
  const { caller } = recording((call) => {
    if (call === failing) throw error;
  });
  expect(await outcomesOf(caller)).toEqual(outcomes);
});

test.each([true, false])('changes and creations send accept_estimate: %s', async (acceptsEstimate) => {
  const { caller } = recording();
  const accepted: (boolean | undefined)[] = [];
  const earshot: Caller = {
    ...caller,
    createRule: (request, options) => {
      accepted.push(request.accept_estimate);
      return caller.createRule(request, options);
    },
    updateRule: (request, options) => {
      accepted.push(request.accept_estimate);
      return caller.updateRule(request, options);
    },
  };
  const stop = new AbortController().signal;
  await applyPlan(plan, { earshot, acceptsEstimate, stop, report: () => undefined });
  expect(accepted).toEqual(Array.from({ length: 3 }, () => acceptsEstimate || undefined));
});

test('a reached plan limit stops creations, but not deletions', async () => {
  const many = planRules({ set: 'launches', rules: ['a', 'b', 'c', 'e', 'f', 'g'].map(wanted) }, [
    ruleOf('d'),
  ]);
  const { caller } = recording((call) => {
    if (call === 'create a') throw new EarshotError('full', { code: 'resource_exhausted' });
  });
  expect(await outcomesOf(caller, { of: many })).toEqual([
    'create a failed',
    'create b done',
    'create c done',
    'create e done',
    'create f not_tried',
    'create g not_tried',
    'delete d done',
  ]);
});

test('after a stop, running steps finish and no new steps start', async () => {
  const stop = new AbortController();
  const { caller } = recording((call) => {
    if (call === 'create a') stop.abort();
  });
  expect(await outcomesOf(caller, { stop: stop.signal })).toEqual([
    'update b done',
    'create c not_tried',
    'create a done',
    'delete d not_tried',
  ]);
});
