import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UpstreamRule } from '../upstream/upstream-rules.ts';
import { reconcile } from './reconcile.ts';
import { type Slot, type SlotState, slotOfTag, slotTag } from './slot.ts';

const installation = 'here';
const nothing = { adopt: [], vanished: [], lost: [], remove: [], gone: [], foreign: 0, unused: [] };

function slot(state: SlotState, upstreamRuleId: string | null = null): Slot {
  return { id: 'slot_1', options: {}, value: 'word', state, upstreamRuleId, foreignRule: false };
}

function rule(id: string, tag: string | null = slotTag(installation, 'slot_1')): UpstreamRule {
  return { id, value: 'word', tag };
}

type Case = 'recorded and there' | 'recorded and missing' | 'unrecorded and there' | 'unrecorded and missing';

/** The expected changes for a slot in each state; a missing cell does not compile. */
const expected: Record<SlotState, Record<Case, Partial<ReturnType<typeof reconcile>>>> = {
  wanted: {
    'recorded and there': {},
    'recorded and missing': {},
    'unrecorded and there': { adopt: [{ slotId: 'slot_1', upstreamRuleId: '1' }] },
    'unrecorded and missing': {},
  },
  registered: {
    'recorded and there': {},
    'recorded and missing': { vanished: ['slot_1'] },
    'unrecorded and there': { adopt: [{ slotId: 'slot_1', upstreamRuleId: '1' }] },
    'unrecorded and missing': { vanished: ['slot_1'] },
  },
  releasing: {
    'recorded and there': {},
    'recorded and missing': { gone: ['slot_1'] },
    'unrecorded and there': { adopt: [{ slotId: 'slot_1', upstreamRuleId: '1' }] },
    'unrecorded and missing': { gone: ['slot_1'] },
  },
  deleting: {
    'recorded and there': { remove: ['1'], gone: ['slot_1'] },
    'recorded and missing': { gone: ['slot_1'] },
    'unrecorded and there': { remove: ['1'], gone: ['slot_1'] },
    'unrecorded and missing': { gone: ['slot_1'] },
  },
  failed: {
    'recorded and there': { remove: ['1'] },
    'recorded and missing': {},
    'unrecorded and there': { remove: ['1'] },
    'unrecorded and missing': {},
  },
};

describe.each(Object.entries(expected))('a slot that is %s', (state, cases) => {
  test.each(Object.entries(cases))('%s', (name, plan) => {
    const recorded = name.startsWith('recorded') ? '1' : null;
    const upstream = name.endsWith('there') ? [rule('1')] : [];
    expect(reconcile(installation, upstream, [slot(state as SlotState, recorded)])).toEqual({
      ...nothing,
      ...plan,
    });
  });
});

test('of several rules with the tag of one slot, the recorded one stays', () => {
  const plan = reconcile(installation, [rule('1'), rule('2'), rule('3')], [slot('registered', '2')]);
  expect(plan).toEqual({ ...nothing, remove: ['1', '3'] });
});

test('a foreign rule that a slot uses is neither removed nor missing', () => {
  const plan = reconcile(installation, [rule('1', 'theirs')], [slot('registered', '1')]);
  expect(plan).toEqual({ ...nothing, foreign: 1 });
});

test('a foreign rule that no slot uses stays and is reported', () => {
  const foreign = { ...rule('2', 'theirs'), value: 'happy' };
  const plan = reconcile(installation, [rule('1'), foreign], [slot('registered', '1')]);
  expect(plan).toEqual({ ...nothing, foreign: 1, unused: ['happy'] });
});

test('the upstream rule of a moving slot stays until the new source has it', () => {
  expect(reconcile(installation, [rule('1')], [], ['slot_1'])).toEqual(nothing);
  expect(reconcile(installation, [rule('1')], [], [])).toEqual({ ...nothing, remove: ['1'] });
});

test('the upstream rule of a moving slot that disappears too early is lost', () => {
  expect(reconcile(installation, [], [], ['slot_1'])).toEqual({ ...nothing, lost: ['slot_1'] });
});

const states: SlotState[] = ['wanted', 'registered', 'releasing', 'deleting', 'failed'];
const slotIds = ['a', 'b', 'c', 'd'];
const ruleIds = ['1', '2', '3', '4', '5', '6'];

const someSlots = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom(...slotIds),
    value: fc.constant('word'),
    state: fc.constantFrom(...states),
    upstreamRuleId: fc.option(fc.constantFrom(...ruleIds)),
    foreignRule: fc.boolean(),
    options: fc.constant({}),
  }),
  { selector: ({ id }) => id },
);
const someRules = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom(...ruleIds),
    value: fc.constant('word'),
    tag: fc.oneof(
      fc.constantFrom(...slotIds, 'unknown').map((id) => slotTag(installation, id)),
      fc.constantFrom(null, 'theirs', slotTag('elsewhere', 'a'), 'earshot:here'),
    ),
  }),
  { selector: ({ id }) => id },
);

/** Applies a plan to the upstream and the slots, like the registrar's store. */
function apply(
  upstream: readonly UpstreamRule[],
  slots: readonly Slot[],
  plan: ReturnType<typeof reconcile>,
) {
  const adopted = new Map(plan.adopt.map((one) => [one.slotId, one.upstreamRuleId]));
  return {
    upstream: upstream.filter(({ id }) => !plan.remove.includes(id)),
    slots: slots
      .filter(({ id }) => !plan.gone.includes(id))
      .map((one): Slot => {
        const upstreamRuleId = adopted.get(one.id);
        if (upstreamRuleId !== undefined) {
          return { ...one, upstreamRuleId, state: one.state === 'wanted' ? 'registered' : one.state };
        }
        return plan.vanished.includes(one.id) ? { ...one, state: 'wanted' } : one;
      }),
  };
}

test('after a plan is applied there is nothing left to do, and no foreign rule was touched', () => {
  fc.assert(
    fc.property(someRules, someSlots, (upstream, slots) => {
      const plan = reconcile(installation, upstream, slots);
      const removed = upstream.filter(({ id }) => plan.remove.includes(id));
      expect(removed.every(({ tag }) => slotOfTag(installation, tag) !== null)).toBe(true);
      const after = apply(upstream, slots, plan);
      expect(reconcile(installation, after.upstream, after.slots)).toEqual({
        ...nothing,
        foreign: plan.foreign,
        unused: expect.any(Array),
      });
    }),
    { numRuns: 1_000 },
  );
});
