import type { UpstreamRule } from '../upstream/upstream-rules.ts';
import { type Slot, slotOfTag } from './slot.ts';

/** The changes after which the upstream's rules and Earshot's slots agree. */
export interface Reconciliation {
  /** A slot has an upstream rule that was not recorded. */
  readonly adopt: ReadonlyArray<{ slotId: string; upstreamRuleId: string }>;
  /** Recorded as registered, but no longer upstream. */
  readonly vanished: readonly string[];
  /** Upstream rules to remove: their tag is ours, and no slot wants them. */
  readonly remove: readonly string[];
  /** Slots that move to another source and are no longer upstream, although the new source does not have them yet. */
  readonly lost: readonly string[];
  /** Slots to delete of which nothing is left once `remove` is done. */
  readonly gone: readonly string[];
  /** The number of rules without our tag. They are never touched. */
  readonly foreign: number;
  /** The queries of foreign rules that no slot uses: the upstream may bill their matches, and no account gets them. */
  readonly unused: readonly string[];
}

/**
 * Compares the upstream's list with the slots of its source. Pure. The slots must be read after the list. Only the caller changes the
 * upstream, so a slot that is newer than the list is simply not in it. The rules of slots that are `moving` to another source stay until
 * that source serves them.
 */
export function reconcile(
  installation: string,
  upstream: readonly UpstreamRule[],
  slots: readonly Slot[],
  moving: readonly string[] = [],
): Reconciliation {
  const slotById = new Map(slots.map((slot) => [slot.id, slot]));
  const ruleById = new Map(upstream.map((rule) => [rule.id, rule]));
  /** The one upstream rule of each slot. After a lost answer several rules may have its tag. */
  const ruleOfSlot = new Map<string, string>();
  for (const slot of slots) {
    const recorded = ruleById.get(slot.upstreamRuleId ?? '');
    if (!recorded) continue;
    // The tag decides which slot the rule belongs to, whatever was recorded.
    const taggedSlot = slotOfTag(installation, recorded.tag);
    if (taggedSlot === null || taggedSlot === slot.id) ruleOfSlot.set(slot.id, recorded.id);
  }
  const stillMoving = new Set(moving);
  const remove: string[] = [];
  const lost = new Set(moving);
  let foreign = 0;
  const unused = unusedForeign(installation, upstream, new Set(ruleOfSlot.values()));
  for (const rule of upstream) {
    const slotId = slotOfTag(installation, rule.tag);
    const slot = slotId === null ? undefined : slotById.get(slotId);
    if (slotId === null) {
      foreign++;
    } else if (!slot && stillMoving.has(slotId)) {
      // Its new source is not ready.
      lost.delete(slotId);
    } else if (!slot || slot.state === 'failed' || slot.state === 'deleting') {
      remove.push(rule.id);
    } else if (!ruleOfSlot.has(slotId)) {
      ruleOfSlot.set(slotId, rule.id);
    } else if (ruleOfSlot.get(slotId) !== rule.id) {
      remove.push(rule.id);
    }
  }
  const adopt = slots.flatMap((slot) => {
    const upstreamRuleId = ruleOfSlot.get(slot.id);
    return upstreamRuleId !== undefined && upstreamRuleId !== slot.upstreamRuleId && slot.state !== 'deleting'
      ? [{ slotId: slot.id, upstreamRuleId }]
      : [];
  });
  const idsWhere = (test: (slot: Slot) => boolean) => slots.filter(test).map((slot) => slot.id);
  return {
    adopt,
    vanished: idsWhere((slot) => slot.state === 'registered' && !ruleOfSlot.has(slot.id)),
    lost: [...lost],
    remove,
    gone: idsWhere(
      (slot) => slot.state === 'deleting' || (slot.state === 'releasing' && !ruleOfSlot.has(slot.id)),
    ),
    foreign,
    unused: unused.map(({ value }) => value),
  };
}

/** Rules without our tag that no slot uses. */
export function unusedForeign(
  installation: string,
  upstream: readonly UpstreamRule[],
  used: ReadonlySet<string>,
): UpstreamRule[] {
  return upstream.filter(({ id, tag }) => slotOfTag(installation, tag) === null && !used.has(id));
}
