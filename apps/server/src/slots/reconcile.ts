import type { UpstreamRule } from '../upstream/upstream-rules.ts';
import { type Slot, slotOfTag } from './slot.ts';

/** What has to happen so that the upstream's rules and our slots agree. */
export interface Reconciliation {
  /** Our slot has a rule upstream that we had not recorded. */
  readonly adopt: ReadonlyArray<{ slotId: string; upstreamRuleId: string }>;
  /** Recorded as registered, but the upstream does not have it any more. */
  readonly vanished: readonly string[];
  /** Upstream rules to remove: ours by their tag, and no slot wants them. */
  readonly remove: readonly string[];
  /** On their way to another source, and not upstream any more before that one has them. */
  readonly lost: readonly string[];
  /** Slots on their way out of which nothing is left once `remove` is done. */
  readonly gone: readonly string[];
  /** Rules that bear no tag of ours: never touched, only counted. */
  readonly foreign: number;
  /** The values of those that no slot uses: the upstream may bill what they match, and nobody here gets it. */
  readonly unused: readonly string[];
}

/**
 * Compares the upstream's list with the slots of its source. Pure. The slots must be read after the list was
 * taken: only the caller changes the upstream, so a slot that is newer than the list is simply not in it. The rules
 * of slots that are `moving` to another source stay until that one serves them.
 */
export function reconcile(
  installation: string,
  upstream: readonly UpstreamRule[],
  slots: readonly Slot[],
  moving: readonly string[] = [],
): Reconciliation {
  const slotById = new Map(slots.map((slot) => [slot.id, slot]));
  const ruleById = new Map(upstream.map((rule) => [rule.id, rule]));
  /** The one upstream rule that stands for a slot: after a lost answer several may bear its tag. */
  const ruleOfSlot = new Map<string, string>();
  for (const slot of slots) {
    const recorded = ruleById.get(slot.upstreamRuleId ?? '');
    if (!recorded) continue;
    // The tag of another slot of ours makes it that slot's rule, whatever we recorded.
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

/** Rules that bear no tag of ours, and that no slot uses. */
export function unusedForeign(
  installation: string,
  upstream: readonly UpstreamRule[],
  used: ReadonlySet<string>,
): UpstreamRule[] {
  return upstream.filter(({ id, tag }) => slotOfTag(installation, tag) === null && !used.has(id));
}
